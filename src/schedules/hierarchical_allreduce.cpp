// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/overlap.hpp"
#include "schedules/pipeline.hpp"

namespace tutti::schedules {
namespace {

Schedule by_leaders(const Problem& p, Generate reduce, Generate across, Generate bcast) {
  const Layout l(p);
  Composer c;
  const Slice result = output(0, p.count);
  const Slice mine = l.node_size() > 1 ? result : input(0, p.count);
  if (l.node_size() > 1) on_node(c, l, {Operation::reduce, reduce}, p.count, input(0, p.count), result);
  among_leaders(c, l, across, 0, p.count, mine, result);
  on_node(c, l, {Operation::bcast, bcast}, p.count, {}, result);
  return c.finish(true);
}

LevelCost by_leaders_cost(const Spread& s, double bytes, Cost reduce, Cost across, Cost bcast) {
  return {s.most > 1 ? reduce + bcast : Cost{}, across, 1, {{Operation::reduce, bytes}, {Operation::bcast, bytes}}};
}

/// The chunks that pass through phases on a node and between nodes: more would cost their starts, of exchanges and
/// messages both, and gain little.
int phase_chunks(double bytes) { return std::min(pipeline_chunks(2, bytes), 32); }

}  // namespace

Schedule allreduce_hierarchical(const Problem& p) {
  return by_leaders(p, reduce_binomial, allreduce_recursive_doubling, bcast_binomial);
}
LevelCost allreduce_hierarchical_cost(const Spread& s, double bytes) {
  return by_leaders_cost(s, bytes, reduce_binomial_cost(s.most, bytes),
                         allreduce_recursive_doubling_cost(s.nodes, bytes), bcast_binomial_cost(s.most, bytes));
}

Schedule allreduce_hierarchical_scatter(const Problem& p) {
  return by_leaders(p, reduce_scatter_gather, allreduce_rabenseifner, bcast_scatter_allgather);
}
LevelCost allreduce_hierarchical_scatter_cost(const Spread& s, double bytes) {
  return by_leaders_cost(s, bytes, reduce_scatter_gather_cost(s.most, bytes),
                         allreduce_rabenseifner_cost(s.nodes, bytes), bcast_scatter_allgather_cost(s.most, bytes));
}

Schedule allreduce_hierarchical_split(const Problem& p) {
  const Layout l(p);
  Composer c;
  const Shares shares(l, p.count);
  const Block own = shares.own();
  const bool is_alone = l.node_size() == 1;
  // In place, another rank may still read the input of an exchange where its output would lie.
  const Slice sum = l.shares_nodes() && !is_alone ? c.reserve(own.count) : output(own);
  if (!is_alone) shares.reduce_scatter(c, input(0, p.count), sum);
  among_peers(c, l, allreduce_rabenseifner, 0, own.count, is_alone ? input(own) : sum, sum);
  if (!is_alone) shares.allgather(c, sum, output(0, p.count));
  return c.finish(true);
}
LevelCost allreduce_hierarchical_split_cost(const Spread& s, double bytes) {
  const double shared = bytes_with_shares(s, bytes);
  const Cost node = reduce_scatter_direct_cost(s.most, shared) + allgather_direct_cost(s.most, shared);
  return {s.most > 1 ? node : Cost{},
          allreduce_rabenseifner_cost(s.nodes, bytes / s.least),
          static_cast<double>(s.least),
          {{Operation::reduce_scatter, shared}, {Operation::allgatherv, shared}}};
}

Schedule allreduce_hierarchical_pipeline(const Problem& p) {
  const Layout l(p);
  if (l.spread().most == 1) return allreduce_hierarchical_split(p);
  const Chunks chunks({0, p.count}, phase_chunks(bytes_of(p)));
  std::size_t shared = 0;
  for (int i = 0; i < chunks.number(); ++i) shared += Shares(l, chunks[i].count).own().count;
  Overlap overlap(shared);
  std::size_t place = 0;
  for (int i = 0; i < chunks.number(); ++i) {
    const Shares shares(l, chunks[i].count);
    const Slice sum = scratch(place, shares.own().count);
    place += sum.count;
    const auto stage = [&](auto&& append) {
      Composer c;
      (void)c.reserve(shared);
      append(c);
      return c.finish(true);
    };
    overlap.add({stage([&](Composer& c) { shares.reduce_scatter(c, input(chunks[i]), sum); }),
                 stage([&](Composer& c) { among_peers(c, l, allreduce_rabenseifner, 0, sum.count, sum, sum); }),
                 stage([&](Composer& c) { shares.allgather(c, sum, output(chunks[i])); })});
  }
  return overlap.finish(true);
}

LevelCost allreduce_hierarchical_pipeline_cost(const Spread& s, double bytes) {
  LevelCost cost = allreduce_hierarchical_split_cost(s, bytes);
  if (s.most == 1) return cost;
  const int chunks = phase_chunks(bytes);
  const auto times = [chunks](Cost& one) {
    one.rounds *= chunks;
    one.messages *= chunks;
  };
  times(cost.on_node);
  times(cost.across);
  for (NodeCost& exchange : cost.exchanges) exchange.bytes /= chunks;
  cost.chunks = chunks;
  return cost;
}

Schedule allreduce_hierarchical_gather(const Problem& p) {
  const Layout l(p);
  const NodeBlocks blocks(l, p.count);
  Composer c;
  const Slice result = output(0, p.count);
  const Slice whole = l.is_leader() ? c.reserve(blocks.total()) : scratch(0, 0);
  allgather_to_leaders(c, l, blocks, allgatherv_direct, input(0, p.count), whole);
  if (l.is_leader()) combine_ranks(c, blocks, whole, result);
  on_node(c, l, {Operation::bcast, bcast_binomial}, p.count, {}, result);
  return c.finish(true);
}
LevelCost allreduce_hierarchical_gather_cost(const Spread& s, double bytes) {
  const Cost gathering = gather_linear_cost(s.most, bytes * s.most);
  return {gathering + combine_ranks_cost(s, bytes) + bcast_binomial_cost(s.most, bytes),
          allgather_direct_cost(s.nodes, bytes * s.size),
          1,
          {{Operation::gather, bytes * s.most}, {Operation::bcast, bytes}},
          combine_ranks_cost(s, bytes)};
}

}  // namespace tutti::schedules
