// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "schedules/registry.hpp"

namespace tutti::simulation {
namespace {

constexpr std::array<const char*, 8> names{"none", "wake", "swap", "slot", "result", "generation", "decision", "plan"};

int draw_ranks(Random& random, const Wishes& wishes) {
  if (wishes.ranks > 0) return wishes.ranks;
  if (wishes.weak) return 2 + random.below(3);
  if (random.once_in(40)) return 16;
  return random.once_in(4) ? 5 + random.below(4) : 2 + random.below(3);
}

/// Ranks of a node follow one another or are dealt out.
std::vector<Place> draw_places(Random& random, int ranks, int nodes) {
  const bool dealt = random.once_in(3);
  const int per_cache = 1 + random.below(4);
  const bool is_bound = !random.once_in(4);
  std::vector<Place> places;
  std::vector<int> on_node(static_cast<std::size_t>(nodes));
  for (int rank = 0; rank < ranks; ++rank) {
    const int node = dealt ? rank % nodes : rank * nodes / ranks;
    const int local = on_node[static_cast<std::size_t>(node)]++;
    const int cache = is_bound ? local / per_cache : -1;
    places.push_back({node, local, is_bound ? cache / 2 : -1, cache, is_bound ? local : -1, 1});
  }
  return places;
}

void use_fault(Machine& machine, Fault fault) {
  if (fault == Fault::wake) machine.oversubscribed = true;
  if (fault == Fault::wake || fault == Fault::result || fault == Fault::generation || fault == Fault::slot) {
    machine.nodes = 1;
    machine.shared_memory = true;
    machine.kernel_copies = fault != Fault::slot;
  }
  if (fault == Fault::swap) machine.shared_memory = false;
}

Operation operation_of(const fuzz::Call& call) {
  auto operation = Operation::barrier;
  while (operation_name(operation) != fuzz::name(call.operation))
    operation = static_cast<Operation>(static_cast<int>(operation) + 1);
  return operation;
}

/// A way that the call names; one that cannot make it is refused, and the planner chooses.
std::string draw_way(Random& random, const Machine& machine, const fuzz::Call& call) {
  if (machine.shared_memory && !random.once_in(4))
    return random.one_of<const char*>({"shm", "shm:line", "shm:slots", "shm:single_copy", "shm:parts", "shm:tree"});
  const auto operation = operation_of(call);
  const auto algorithms = machine.nodes > 1 && random.once_in(2) ? schedules::hierarchical_algorithms_of(operation)
                                                                 : schedules::algorithms_of(operation);
  return algorithms.empty() ? "mpi" : std::string(algorithms[random.below(algorithms.size())].name);
}

/// The ways of blocking calls alone.
void prefer_rare_way(Random& random, fuzz::Call& call) {
  using enum fuzz::Operation;
  const bool is_vector = call.operation == reduce || call.operation == allreduce;
  if (!is_vector && call.operation != bcast && call.operation != barrier) return;
  call.form = CallForm::blocking;
  call.algorithm = is_vector && random.once_in(2) ? "shm:parts" : "shm:tree";
}

/// The same, through the rings.
void prefer_ring(Random& random, fuzz::Call& call) {
  call.form = CallForm::blocking;
  call.algorithm = random.one_of<const char*>({"shm:stream", "shm:wide", "shm:uncached"});
}

/// More broadcasts than there are cells, so that their root comes to wait for one.
void become_burst(Random& random, const Machine& machine, fuzz::Phase& phase) {
  fuzz::Call call = phase.calls.front();
  call.operation = fuzz::Operation::bcast;
  call.form = random.once_in(4) ? CallForm::nonblocking : CallForm::blocking;
  call.counts.clear();
  call.count = random.below(std::size_t{200});
  std::fill(call.in_place.begin(), call.in_place.end(), 0);
  call.algorithm = random.one_of<const char*>({"", "shm:line", "shm:slots", "shm:single_copy"});
  // So much that they come to the begin of the ring again.
  if (machine.is_weak && random.once_in(2)) {
    call.count = random.below(std::size_t{4096});
    prefer_ring(random, call);
  }
  phase.calls.assign(14 + random.below(std::size_t{16}), call);
  for (fuzz::Call& one : phase.calls) one.seed = random.bits();
  phase.away = phase.waits = -1;
}

}  // namespace

std::vector<std::string> fault_names() { return {names.begin(), names.end()}; }

Fault fault_of(const std::string& name) {
  return static_cast<Fault>(std::find(names.begin(), names.end(), name) - names.begin());
}

Machine draw_machine(Random& random, const Wishes& wishes) {
  Machine machine;
  machine.ranks = draw_ranks(random, wishes);
  machine.oversubscribed = !random.once_in(4);
  machine.shared_memory = !random.once_in(6);
  machine.kernel_copies = !random.once_in(4);
  machine.is_weak = wishes.weak;
  if (wishes.weak) machine.shared_memory = true;
  if (!machine.shared_memory && random.once_in(2)) machine.nodes = 1 + random.below(std::min(4, machine.ranks));
  use_fault(machine, wishes.fault);
  machine.places = draw_places(random, machine.ranks, machine.nodes);
  return machine;
}

Manner draw_manner(Random& random, const Wishes& wishes) {
  Manner manner;
  manner.policy = static_cast<Policy>(random.below(3));
  manner.copy_stops = random.one_of({1, 4, 16});
  manner.delivers = random.one_of({2, 8, 64});
  manner.pauses = random.one_of({0, 50, 300});
  manner.yields = random.below(std::size_t{4});
  manner.eager = random.one_of<std::size_t>({0, 256, 16'384});
  manner.dies = wishes.fault == Fault::none && random.once_in(8);
  return manner;
}

Topology Machine::topology_of(const std::vector<int>& members) const {
  Topology topology;
  std::vector<int> numbers;  // of the nodes, in the order in which the ranks meet them
  for (const int member : members) {
    Place place = places[static_cast<std::size_t>(member)];
    auto at = std::find(numbers.begin(), numbers.end(), place.node);
    if (at == numbers.end()) {
      at = numbers.insert(at, place.node);
      topology.ranks_per_node.push_back(0);
    }
    place.node = static_cast<int>(at - numbers.begin());
    place.local_rank = topology.ranks_per_node[static_cast<std::size_t>(place.node)]++;
    topology.places.push_back(place);
  }
  topology.nodes = static_cast<int>(numbers.size());
  topology.oversubscribed = oversubscribed;
  for (const int ranks_here : topology.ranks_per_node) {
    topology.cores_per_node.push_back(oversubscribed ? 1 : ranks_here);
    topology.host_names.push_back(fmt::format("node{}", topology.host_names.size()));
  }
  return topology;
}

fuzz::Program draw_program(std::uint64_t seed, Random& random, const Machine& machine, const Manner& manner,
                           fuzz::Setting& setting) {
  setting.shared_memory = machine.shared_memory;
  setting.single_copy = machine.kernel_copies;
  setting.native = false;
  fuzz::Program program = fuzz::make_program(seed, machine.ranks, setting);
  const bool by_messages = !machine.shared_memory || random.once_in(3);
  for (fuzz::Phase& phase : program.phases) {
    // A rank in MPI_Recv would wait for a dead one without end.
    if (manner.dies) phase.away = phase.waits = -1;
    if (random.once_in(8)) {
      become_burst(random, machine, phase);
      continue;
    }
    if (phase.away >= 0) continue;
    for (fuzz::Call& call : phase.calls) {
      call.algorithm.clear();
      if (random.once_in(2)) call.algorithm = draw_way(random, machine, call);
      if (machine.shared_memory && random.once_in(3)) prefer_rare_way(random, call);
      if (machine.is_weak && random.once_in(4)) prefer_ring(random, call);
      if (!by_messages && !call.algorithm.starts_with("shm")) call.algorithm = "shm";
    }
  }
  return program;
}

std::string describe(const Machine& machine, const Manner& manner) {
  constexpr std::array<const char*, 3> policies{"uniform", "priorities", "bursts"};
  return fmt::format(
      "{} ranks on {} nodes, {}, {} {}shared memory, {} copies by the kernel; {}, stops at 1 of {} copies, delivers at "
      "1 "
      "of {} turns, {}{} yields before a sleep, eager up to {} bytes",
      machine.ranks, machine.nodes, machine.oversubscribed ? "oversubscribed" : "a core for each",
      machine.shared_memory ? "with" : "without", machine.is_weak ? "weak " : "",
      machine.kernel_copies ? "with" : "without", policies[static_cast<std::size_t>(manner.policy)], manner.copy_stops,
      manner.delivers, manner.dies ? "one dies, " : "", manner.yields, manner.eager);
}

}  // namespace tutti::simulation
