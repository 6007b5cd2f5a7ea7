// SPDX-License-Identifier: BSD-3-Clause
#include "call/schedule_rules.hpp"

#include <fmt/format.h>

#include "call/context.hpp"
#include "call/plan.hpp"

namespace tutti::detail {
namespace {

using schedules::Algorithm;
using schedules::Spread;

std::shared_ptr<const schedules::Schedule> generate(const Plan& plan, schedules::Problem problem,
                                                    const schedules::NodeMap* node_of, const NodeMemory& memory) {
  problem.element_size = plan.signature.type.size();
  problem.node_of = node_of;
  problem.starts = plan.starts;
  problem.shares_nodes = exchanges_on_nodes(plan.signature, memory);
  return std::make_shared<const schedules::Schedule>(plan.algorithm->generate(problem));
}

bool is_sum(ReduceKind op) { return op == ReduceKind::sum || op == ReduceKind::avg || op == ReduceKind::premul_sum; }

}  // namespace

bool is_small_float(DatatypeKind kind) {
  return kind == DatatypeKind::float16 || kind == DatatypeKind::bfloat16 || kind == DatatypeKind::float8_e4m3 ||
         kind == DatatypeKind::float8_e5m2;
}

bool adds_floats(const Signature& signature) {
  const DatatypeKind kind = signature.type.kind();
  const bool is_real = kind == DatatypeKind::float32 || kind == DatatypeKind::float64 || is_small_float(kind);
  const bool is_complex = kind == DatatypeKind::complex64 || kind == DatatypeKind::complex128;
  return combines(signature.operation) && is_sum(signature.op) && (is_real || is_complex);
}

bool needs_single_combine(const Signature& signature) {
  if (!combines(signature.operation) || signature.op == ReduceKind::user) return signature.reproducible;
  if (signature.reproducible || sums_exactly(signature)) return true;
  const bool rounds = is_sum(signature.op) || signature.op == ReduceKind::prod;
  return rounds && is_small_float(signature.type.kind()) && signature.accumulation != Accumulation::backend;
}

std::string why_wrong(const Algorithm& algorithm, const Signature& signature, const Spread& spread) {
  if (!schedules::fits(algorithm, spread.size)) return "does not work for this number of ranks";
  if (algorithm.hierarchical && !schedules::meets(spread, algorithm.need))
    return algorithm.need == schedules::LayoutNeed::even ? "needs the same number of ranks on all nodes"
                                                         : "needs consecutive ranks on each node";
  if (algorithm.tells_counts && signature.memory == MemoryClass::device)
    return "its ranks tell one another their counts first, which calls on host memory do";
  if (!combines(signature.operation)) return {};
  if (signature.memory == MemoryClass::device && sums_exactly(signature)) return "the device has no exact sums";
  if (needs_single_combine(signature) && !(algorithm.single_combine && algorithm.ordered))
    return "combines in several steps, but this call requires one rounding in rank order";
  const bool keeps_order =
      algorithm.ordered && (!algorithm.hierarchical || spread.adjacent || algorithm.single_combine);
  if (!signature.commutative && !keeps_order)
    return "does not keep rank order, which an operation that does not commute requires";
  return {};
}

std::string why_too_many_ranks(const Algorithm& algorithm, int size) {
  if (algorithm.max_size == 0 || size <= algorithm.max_size) return {};
  return fmt::format("made for at most {} ranks; available only by name", algorithm.max_size);
}

schedules::Problem problem_of(int rank, int size, int root, std::size_t count, const Binding& binding) {
  schedules::Problem problem;
  problem.rank = rank;
  problem.size = size;
  problem.root = root;
  problem.count = count;
  problem.send_count = binding.send_count;
  problem.recv_count = binding.recv_count;
  problem.send_counts = binding.send_counts;
  problem.send_displs = binding.send_displs;
  problem.recv_counts = binding.recv_counts;
  problem.recv_displs = binding.recv_displs;
  return problem;
}

void add_schedule(Plan& plan, const Machine& machine) {
  if (plan.algorithm == nullptr || tutti::has_counts(plan.signature.operation)) return;
  const schedules::Problem problem =
      problem_of(machine.rank, machine.size, plan.signature.root, plan.signature.count, Binding{});
  plan.schedule = generate(plan, problem, machine.node_of, machine.node_memory);
}

std::shared_ptr<const schedules::Schedule> bound_schedule(const Context& context, const Plan& plan,
                                                          const Binding& binding, std::span<const std::size_t> told) {
  if (plan.schedule) return plan.schedule;
  schedules::Problem problem =
      problem_of(context.rank, context.size, plan.signature.root, plan.signature.count, binding);
  problem.told = told;
  problem.joined_bytes = plan.joined_bytes;
  return generate(plan, problem, &context.node_of, context.node_memory);
}

}  // namespace tutti::detail
