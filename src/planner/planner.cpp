// SPDX-License-Identifier: BSD-3-Clause
#include "planner/planner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <tutti/error.hpp>
#include <vector>

#include "backends/staged/pieces.hpp"

namespace tutti::detail {
namespace {

std::string_view backend_name(Backend backend) {
  switch (backend) {
    case Backend::shm:
      return "shm";
    case Backend::native:
      return "native";
    case Backend::nccl:
      return "nccl";
    case Backend::staged:
      return "staged";
    case Backend::mpi:
      break;
  }
  return "mpi";
}

bool is_named(const Candidate& c, std::string_view name) {
  return c.name == name || (c.algorithm != nullptr && c.algorithm->name == name);
}

/// What a call may ask for by name: backends, and ways of theirs.
std::vector<std::string_view> valid_names(const std::vector<Candidate>& all) {
  std::vector<std::string_view> names;
  for (const Candidate& c : all) {
    if (!c.nameable) continue;
    const std::string_view backend = backend_name(c.backend);
    if (std::find(names.begin(), names.end(), backend) == names.end()) names.push_back(backend);
    if (c.name != backend) names.push_back(c.algorithm != nullptr ? c.algorithm->name : c.name);
  }
  return names;
}

[[noreturn]] void throw_unsuitable(const Signature& signature, const Machine& machine,
                                   const std::vector<Candidate>& all, std::string_view why) {
  throw Error(ErrorCode::invalid_algorithm,
              fmt::format("{}: algorithm '{}' cannot be used: {}; valid here: {} (rank {} of {})",
                          schedules::operation_name(signature.operation), signature.algorithm, why,
                          fmt::join(valid_names(all), ", "), machine.rank, machine.size));
}

/// The first of a backend: the fastest that can be chosen, else one that can be asked for.
const Candidate& named_backend(const Signature& signature, const Machine& machine, const std::vector<Candidate>& all) {
  const Candidate* found = nullptr;
  for (const Candidate& c : all) {
    if (backend_name(c.backend) != signature.algorithm) continue;
    if (c.nameable) return c;
    if (found == nullptr) found = &c;
  }
  throw_unsuitable(signature, machine, all, found->excluded);
}

const Candidate& named(const Signature& signature, const Machine& machine, const std::vector<Candidate>& all) {
  const std::string_view name = signature.algorithm;
  const auto is_backend = [&](const Candidate& c) { return backend_name(c.backend) == name; };
  if (std::ranges::any_of(all, is_backend)) return named_backend(signature, machine, all);
  for (const Candidate& c : all) {
    if (!is_named(c, name)) continue;
    if (!c.nameable) throw_unsuitable(signature, machine, all, c.excluded);
    return c;
  }
  throw_unsuitable(signature, machine, all, "there is none of that name for this operation");
}

const Candidate& first(const Signature& signature, const Machine& machine, const std::vector<Candidate>& all) {
  if (all.front().excluded.empty()) return all.front();
  throw Error(ErrorCode::internal, fmt::format("{}: no algorithm for {} ranks",
                                               schedules::operation_name(signature.operation), machine.size));
}

/// One rank has nothing to exchange: a schedule is a local copy then. MPICH 4.0.2 even misplaces the block of an
/// allgatherv.
bool is_local(const Candidate& chosen, const Machine& machine) {
  return machine.size == 1 && (chosen.backend == Backend::shm || chosen.backend == Backend::native);
}

std::shared_ptr<Plan> plan_from(const Candidate& chosen, const Signature& signature, const Machine& machine) {
  auto plan = std::make_shared<Plan>();
  plan->signature = signature;
  plan->backend = chosen.backend;
  plan->protocol = chosen.protocol;
  plan->algorithm = chosen.algorithm;
  if (plan->algorithm != nullptr && !schedules::has_counts(signature.operation)) {
    schedules::Problem problem;
    problem.rank = machine.rank;
    problem.size = machine.size;
    problem.root = signature.root;
    problem.count = signature.count;
    problem.element_size = signature.type.size();
    problem.node_of = machine.node_of;
    plan->schedule = std::make_shared<const schedules::Schedule>(plan->algorithm->generate(problem));
  }
  return plan;
}

/// The plan in host memory of one piece of a staged call.
std::shared_ptr<const Plan> host_plan(const Signature& signature, std::size_t count, const Machine& machine) {
  const Candidate chosen = host_candidate(signature, count, machine);
  return plan_from(chosen, host_signature(signature, count), machine);
}

}  // namespace

Machine machine_of(const CommState& comm) {
  Machine machine;
  machine.rank = comm.rank;
  machine.size = comm.size;
  machine.oversubscribed = comm.topology.oversubscribed;
  machine.several_nodes = comm.topology.nodes > 1;
  machine.native_blocking = comm.options.native_blocking;
  machine.shm = comm.arena != nullptr;
  machine.single_copy = machine.shm && comm.arena->single_copy();
  if (machine.several_nodes) machine.node_of = comm.node_of;
  machine.table = comm.table.get();
  machine.on_node = comm.on_node;
  if (comm.device) {
    machine.device_prepared = true;
    machine.device_kernels = comm.device->kernels;
    machine.cuda_aware = comm.device->cuda_aware;
    machine.nccl_version = comm.device->nccl_version;
  }
  return machine;
}

std::shared_ptr<const Plan> make_plan(const Signature& signature, const Machine& machine) {
  const std::vector<Candidate> all = candidates(signature, machine);
  const bool has_name = !signature.algorithm.empty();
  const Candidate* chosen = &(has_name ? named(signature, machine, all) : first(signature, machine, all));
  if (is_local(*chosen, machine)) chosen = &first(signature, machine, all);
  const auto plan = plan_from(*chosen, signature, machine);
  if (plan->backend == Backend::staged) {
    const staged::Cut cut = staged::cut(signature, machine.size);
    plan->pieces = cut.pieces;
    plan->host = host_plan(signature, cut.count, machine);
  }
  return plan;
}

}  // namespace tutti::detail
