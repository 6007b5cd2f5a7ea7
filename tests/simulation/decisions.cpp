// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/decisions.hpp"

#include <fmt/format.h>

#include <tutti/error.hpp>
#include <vector>

#include "call/cost_model.hpp"
#include "call/machine.hpp"
#include "call/plan.hpp"
#include "planner/planner.hpp"
#include "support/proof/fault.hpp"
#include "support/proof/matching.hpp"

namespace tutti::simulation {
namespace {

using detail::Plan;
using detail::Signature;
using PlanPtr = std::shared_ptr<const Plan>;

/// Costs of a machine within a factor of ten of the typical ones.
detail::Costs draw_costs(Random& random) {
  detail::Costs costs;
  for (const detail::NamedCost& cost : detail::named_costs)
    costs.*cost.value *= 0.1 * static_cast<double>(1 + random.below(100));
  return costs;
}

Signature draw_signature(Random& random, int ranks) {
  Signature s;
  s.operation = static_cast<Operation>(random.below(16));
  s.kind = static_cast<detail::CallKind>(random.below(3));
  s.type = random.one_of<Datatype>({DatatypeKind::uint8, DatatypeKind::float16, DatatypeKind::int32,
                                    DatatypeKind::float64, DatatypeKind::complex128});
  s.op = random.one_of({ReduceKind::sum, ReduceKind::prod, ReduceKind::user});
  s.commutative = s.op != ReduceKind::user || random.once_in(2);
  s.reproducible = random.once_in(6);
  s.has_timeout = random.once_in(6);
  if (tutti::has_root(s.operation)) s.root = random.below(ranks);
  if (!tutti::is_varying(s.operation) && s.operation != Operation::barrier)
    s.count = random.below(std::size_t{1} << (1 + random.below(20)));
  if (random.once_in(4)) s.algorithm = random.one_of<const char*>({"shm", "mpi", "native", "ring", "shm:slots"});
  return s;
}

std::string words(const Plan* plan) {
  if (plan == nullptr) return "none";
  return fmt::format("{} ({:016x}, {} pieces, {:.17g} s, spare {})", plan->way, plan->digest, plan->pieces,
                     plan->expected, words(plan->spare.get()));
}

/// The plan of one rank, or in words why it has none.
std::string ask(const Signature& signature, const detail::Machine& machine, PlanPtr& plan) {
  try {
    plan = detail::make_plan(signature, machine);
    return words(plan.get());
  } catch (const Error& e) {
    return error_string(e.code());
  }
}

std::string compare(const Signature& signature, detail::Machine machine, const detail::Machine& other, int odd) {
  std::vector<schedules::Schedule> all;
  std::string first;
  for (int rank = 0; rank < machine.size; ++rank) {
    PlanPtr plan;
    detail::Machine own = rank == odd ? other : machine;
    own.rank = rank;
    const std::string answer = ask(signature, own, plan);
    if (rank == 0) first = answer;
    if (answer != first) return fmt::format("rank 0 decides {}, rank {} decides {}", first, rank, answer);
    if (plan && plan->schedule) all.push_back(*plan->schedule);
  }
  try {
    if (!all.empty()) (void)schedules::Matching(all);
  } catch (const schedules::Fault& fault) {
    return fmt::format("{}: {}", first, fault.what());
  }
  return "";
}

}  // namespace

std::string check_decisions(std::uint64_t seed, bool spoils) {
  Random random(mix({seed, 21}));
  Wishes wishes;
  if (random.once_in(8)) wishes.ranks = 17 + random.below(48);
  const Machine drawn = draw_machine(random, wishes);
  std::vector<int> members;
  for (int rank = 0; rank < drawn.ranks; ++rank) members.push_back(rank);
  const Topology topology = drawn.topology_of(members);
  const schedules::NodeMap node_of(detail::nodes_of(topology));
  detail::Machine machine;
  machine.size = drawn.ranks;
  machine.oversubscribed = drawn.oversubscribed;
  machine.several_nodes = drawn.nodes > 1;
  machine.native_blocking = random.once_in(3);
  machine.shared_memory = drawn.shared_memory && drawn.nodes == 1;
  machine.single_copy = machine.shared_memory && drawn.kernel_copies;
  machine.costs = draw_costs(random);
  machine.places = topology.places;
  machine.on_node = detail::level_on_node(topology);
  if (machine.several_nodes) machine.node_of = &node_of;
  const int odd = spoils ? random.below(drawn.ranks) : -1;
  detail::Machine other = machine;
  other.costs = draw_costs(random);
  for (int call = 0; call < 2; ++call) {
    const Signature signature = draw_signature(random, drawn.ranks);
    const std::string problem = compare(signature, machine, other, odd);
    if (!problem.empty())
      return fmt::format("{} of {} elements on {} ranks: {}", operation_name(signature.operation), signature.count,
                         drawn.ranks, problem);
  }
  return "";
}

}  // namespace tutti::simulation
