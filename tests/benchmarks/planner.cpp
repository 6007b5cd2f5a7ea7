// SPDX-License-Identifier: BSD-3-Clause
// How long the planner takes for a call that it has not planned yet, by number of ranks: `choose` is its choice, `plan`
// also makes this rank's schedule. Later calls find the plan in the cache.
#include "planner/planner.hpp"

#include <benchmark/benchmark.h>

#include "planner/candidates.hpp"

namespace tutti::detail {
namespace {

struct Cluster {
  explicit Cluster(int ranks) : map(schedules::NodeMap::blocks(ranks, 64)) {
    machine.rank = ranks / 2;
    machine.size = ranks;
    machine.several_nodes = true;
    machine.node_of = &map;
    machine.on_node = LinkLevel::node;
    machine.node_memory = {true, true, false};
  }
  schedules::NodeMap map;
  Machine machine{};
};

Signature call_of(Operation operation, std::size_t bytes) {
  Signature signature;
  signature.operation = operation;
  signature.type = DatatypeKind::float32;
  signature.count = bytes / signature.type.size();
  return signature;
}

void choose(benchmark::State& state, Operation operation) {
  const Cluster cluster(static_cast<int>(state.range(0)));
  const Signature call = call_of(operation, static_cast<std::size_t>(state.range(1)));
  for (auto _ : state) benchmark::DoNotOptimize(candidates(call, cluster.machine));
}

void plan(benchmark::State& state, Operation operation) {
  const Cluster cluster(static_cast<int>(state.range(0)));
  const Signature call = call_of(operation, static_cast<std::size_t>(state.range(1)));
  for (auto _ : state) benchmark::DoNotOptimize(make_plan(call, cluster.machine));
}

void sizes(benchmark::internal::Benchmark* all) {
  for (const int ranks : {128, 1'024, 10'240, 102'400})
    for (const int bytes : {8, 1 << 20}) all->Args({ranks, bytes});
  all->ArgNames({"ranks", "bytes"})->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(choose, barrier, Operation::barrier)->Apply(sizes);
BENCHMARK_CAPTURE(choose, bcast, Operation::bcast)->Apply(sizes);
BENCHMARK_CAPTURE(choose, allreduce, Operation::allreduce)->Apply(sizes);
BENCHMARK_CAPTURE(choose, allgather, Operation::allgather)->Apply(sizes);
BENCHMARK_CAPTURE(choose, alltoall, Operation::alltoall)->Apply(sizes);
BENCHMARK_CAPTURE(plan, bcast, Operation::bcast)->Apply(sizes);
BENCHMARK_CAPTURE(plan, allreduce, Operation::allreduce)->Apply(sizes);

}  // namespace
}  // namespace tutti::detail

BENCHMARK_MAIN();
