// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/planner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <tutti/error.hpp>
#include <vector>

#include "backends/native/eligible.hpp"

namespace tutti::detail {
namespace {

using algorithms::Algorithm;

bool reduces(Operation operation) {
  switch (operation) {
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
    case Operation::scan:
    case Operation::exscan:
      return true;
    default:
      return false;
  }
}

bool has_blocks(Operation operation) {
  switch (operation) {
    case Operation::reduce_scatter_block:
    case Operation::gather:
    case Operation::scatter:
    case Operation::allgather:
    case Operation::alltoall:
      return true;
    default:
      return false;
  }
}

/// The displacements, or all counts, of these are known to one rank only: their schedule is made at each binding.
bool schedule_needs_binding(Operation operation) {
  switch (operation) {
    case Operation::gatherv:
    case Operation::scatterv:
    case Operation::allgatherv:
    case Operation::alltoallv:
    case Operation::reduce_scatter:
      return true;
    default:
      return false;
  }
}

bool is_small_float(DatatypeKind kind) {
  return kind == DatatypeKind::float16 || kind == DatatypeKind::bfloat16 || kind == DatatypeKind::float8_e4m3 ||
         kind == DatatypeKind::float8_e5m2;
}

/// Seconds a round, a message, a byte moved and a byte combined take; of the order of one node of today, replaced by
/// measurement.
double seconds(const Algorithm& algorithm, const Signature& signature, const Machine& machine) {
  const double per_round = machine.several_nodes ? 2.5e-6 : (machine.oversubscribed ? 6e-6 : 0.5e-6);
  const double per_message = machine.several_nodes ? 1e-6 : 0.3e-6;
  constexpr double per_byte = 1.0 / 8e9;
  constexpr double per_reduced_byte = 1.0 / 16e9;
  constexpr double per_copied_byte = 1.0 / 12e9;
  const double bytes = static_cast<double>(signature.count) * static_cast<double>(signature.type.size()) *
                       (has_blocks(signature.operation) ? machine.size : 1);
  const algorithms::Cost cost = algorithm.cost(machine.size, bytes);
  return cost.rounds * per_round + cost.messages * per_message + cost.bytes * per_byte +
         cost.reduced_bytes * per_reduced_byte + cost.copied_bytes * per_copied_byte;
}

bool is_right(const Algorithm& algorithm, const Signature& signature) {
  if (!reduces(signature.operation)) return true;
  if (!signature.commutative && !algorithm.ordered) return false;
  return algorithm.single_combine || !needs_single_combine(signature);
}

std::string_view without_backend(std::string_view name) {
  constexpr std::string_view prefix = "mpi:";
  if (name.substr(0, prefix.size()) == prefix) name.remove_prefix(prefix.size());
  return name;
}

[[noreturn]] void throw_unsuitable(const Signature& signature, const Machine& machine, std::string_view why) {
  std::vector<std::string_view> valid;
  for (const Algorithm& algorithm : algorithms::algorithms_of(signature.operation))
    if (is_right(algorithm, signature)) valid.push_back(algorithm.name);
  if (native_is_eligible(signature)) valid.emplace_back("native");
  throw Error(ErrorCode::invalid_algorithm,
              fmt::format("{}: algorithm '{}' {}; valid here: {} (rank {} of {})",
                          algorithms::operation_name(signature.operation), signature.algorithm, why,
                          fmt::join(valid, ", "), machine.rank, machine.size));
}

const Algorithm& named_algorithm(const Signature& signature, const Machine& machine) {
  const Algorithm* found = algorithms::find_algorithm(signature.operation, without_backend(signature.algorithm));
  if (found == nullptr) throw_unsuitable(signature, machine, "does not exist");
  if (!is_right(*found, signature))
    throw_unsuitable(signature, machine, "cannot keep the order or rounding that this call asks for");
  return *found;
}

const Algorithm& cheapest_algorithm(const Signature& signature, const Machine& machine) {
  const Algorithm* best = nullptr;
  double best_seconds = 0;
  for (const Algorithm& algorithm : algorithms::algorithms_of(signature.operation)) {
    if (!is_right(algorithm, signature)) continue;
    if (algorithm.max_size != 0 && machine.size > algorithm.max_size) continue;
    const double predicted = seconds(algorithm, signature, machine);
    if (best == nullptr || predicted < best_seconds) {
      best = &algorithm;
      best_seconds = predicted;
    }
  }
  if (best == nullptr)
    throw Error(ErrorCode::internal, fmt::format("{}: no algorithm for {} ranks",
                                                 algorithms::operation_name(signature.operation), machine.size));
  return *best;
}

/// A nonblocking operation of several rounds goes on only inside calls of Tutti; the host MPI's own goes on in every
/// MPI call. A blocking one tests and yields, unless the caller allowed it to block inside MPI.
bool prefers_native(const Signature& signature, const Algorithm& algorithm, const Machine& machine) {
  if (machine.size == 1 || !native_is_eligible(signature)) return false;
  if (signature.kind == CallKind::nonblocking) return algorithm.cost(machine.size, 1.0).rounds > 1;
  return may_block_inside_mpi(signature, machine);
}

}  // namespace

bool may_block_inside_mpi(const Signature& signature, const Machine& machine) {
  return signature.kind == CallKind::blocking && machine.native_blocking && !machine.oversubscribed &&
         !signature.has_timeout;
}

Machine machine_of(const CommState& comm) {
  return {comm.rank, comm.size, comm.topology.oversubscribed, comm.topology.nodes > 1, comm.options.native_blocking};
}

bool needs_single_combine(const Signature& signature) {
  if (!reduces(signature.operation) || signature.op == ReduceKind::user) return signature.reproducible;
  if (signature.reproducible) return true;
  const bool rounds = signature.op == ReduceKind::sum || signature.op == ReduceKind::prod ||
                      signature.op == ReduceKind::avg || signature.op == ReduceKind::premul_sum;
  return rounds && is_small_float(signature.type.kind()) && signature.accumulation == Accumulation::full;
}

std::shared_ptr<const Plan> make_plan(const Signature& signature, const Machine& machine) {
  auto plan = std::make_shared<Plan>();
  plan->signature = signature;
  const bool is_native = signature.algorithm == "native";
  // MPICH 4.0.2 misplaces the block of an allgatherv on one rank, where a schedule is a copy anyway.
  if (is_native && machine.size > 1) {
    if (!native_is_eligible(signature))
      throw_unsuitable(signature, machine, "of the host MPI has other semantics for this call");
    plan->backend = Backend::native;
    return plan;
  }
  const bool is_named = !signature.algorithm.empty() && !is_native;
  plan->algorithm = &(is_named ? named_algorithm(signature, machine) : cheapest_algorithm(signature, machine));
  if (!is_named && prefers_native(signature, *plan->algorithm, machine)) {
    plan->backend = Backend::native;
    return plan;
  }
  if (!schedule_needs_binding(signature.operation)) {
    algorithms::Problem problem;
    problem.rank = machine.rank;
    problem.size = machine.size;
    problem.root = signature.root;
    problem.count = signature.count;
    plan->schedule = std::make_shared<const algorithms::Schedule>(plan->algorithm->generate(problem));
  }
  return plan;
}

}  // namespace tutti::detail
