// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/overlap.hpp"
#include "schedules/pipeline.hpp"

namespace tutti::schedules {
namespace {

Generate sum_across(const Layout& l, const Problem& p, std::size_t count, double senders) {
  return flat_across(l, p, Operation::allreduce, bytes_of(p, count), senders, p.starts.order);
}

/// The chunks that pass through phases on a node and between nodes: more would cost their starts, of exchanges and
/// messages both, and gain little.
int phase_chunks(const Spread& s, double bytes) { return std::min(pipeline_chunks(2, bytes, s.starts.through), 32); }

}  // namespace

Schedule allreduce_hierarchical(const Problem& p) {
  const Layout l(p);
  Composer c;
  const Slice result = output(0, p.count);
  const Slice mine = l.node_size() > 1 ? result : input(0, p.count);
  const double bytes = bytes_of(p);
  if (l.node_size() > 1)
    on_node(c, l, phase_on_node(l, p, Operation::reduce, bytes, p.starts.order), p.count, input(0, p.count), result);
  among_leaders(c, l, sum_across(l, p, p.count, 1), 0, p.count, mine, result);
  on_node(c, l, phase_on_node(l, p, Operation::bcast, bytes), p.count, {}, result);
  return c.finish(true);
}
LevelCost allreduce_hierarchical_cost(const Spread& s, double bytes) {
  LevelCost cost{{},
                 cost_across(s, Operation::allreduce, bytes, 1, s.starts.order),
                 {{Operation::reduce, bytes}, {Operation::bcast, bytes}}};
  if (s.most > 1)
    cost.on_node = {cost_on_node(s, Operation::reduce, bytes, s.starts.order),
                    cost_on_node(s, Operation::bcast, bytes)};
  return cost;
}

Schedule allreduce_hierarchical_split(const Problem& p) {
  const Layout l(p);
  Composer c;
  const Shares shares(l, p, p.count);
  const Block own = shares.own();
  const bool is_alone = l.node_size() == 1;
  // In place, another rank may still read the input of an exchange where its output would lie.
  const Slice sum = l.shares_nodes() && !is_alone ? c.reserve(own.count) : output(own);
  if (!is_alone) shares.reduce_scatter(c, input(0, p.count), sum);
  among_peers(c, l, sum_across(l, p, own.count, l.spread().least), 0, own.count, is_alone ? input(own) : sum, sum);
  if (!is_alone) shares.allgather(c, sum, output(0, p.count));
  return c.finish(true);
}
LevelCost allreduce_hierarchical_split_cost(const Spread& s, double bytes) {
  const double shared = bytes_with_shares(s, bytes);
  LevelCost cost{{},
                 cost_across(s, Operation::allreduce, bytes / s.least, s.least, s.starts.order),
                 {{Operation::reduce_scatter, shared}, {Operation::allgatherv, shared}}};
  if (s.most > 1) cost.on_node = {Shares::reduce_scatter_cost(s, bytes), Shares::allgather_cost(s, bytes)};
  return cost;
}

Schedule allreduce_hierarchical_pipeline(const Problem& p) {
  const Layout l(p);
  if (l.spread().most == 1) return allreduce_hierarchical_split(p);
  const Chunks chunks({0, p.count}, phase_chunks(l.spread(), bytes_of(p)));
  std::size_t shared = 0;
  for (int i = 0; i < chunks.number(); ++i) shared += Shares(l, p, chunks[i].count, true).own().count;
  Overlap overlap(shared);
  std::size_t place = 0;
  for (int i = 0; i < chunks.number(); ++i) {
    const Shares shares(l, p, chunks[i].count, true);
    const Slice sum = scratch(place, shares.own().count);
    place += sum.count;
    const auto stage = [&](auto&& append) {
      Composer c;
      (void)c.reserve(shared);
      append(c);
      return c.finish(true);
    };
    overlap.add({stage([&](Composer& c) { shares.reduce_scatter(c, input(chunks[i]), sum); }), stage([&](Composer& c) {
                   among_peers(c, l, sum_across(l, p, sum.count, l.spread().least), 0, sum.count, sum, sum);
                 }),
                 stage([&](Composer& c) { shares.allgather(c, sum, output(chunks[i])); })});
  }
  return overlap.finish(true);
}

LevelCost allreduce_hierarchical_pipeline_cost(const Spread& s, double bytes) {
  if (s.most == 1) return allreduce_hierarchical_split_cost(s, bytes);
  const int chunks = phase_chunks(s, bytes);
  LevelCost cost = allreduce_hierarchical_split_cost(s, bytes / chunks);
  cost.on_node = {Shares::reduce_scatter_cost(s, bytes / chunks, true),
                  Shares::allgather_cost(s, bytes / chunks, true)};
  const auto times = [chunks](PhaseCost& phase) {
    phase.cost.rounds *= chunks;
    phase.cost.bytes *= chunks;
    phase.cost.reduced_bytes *= chunks;
    phase.cost.copied_bytes *= chunks;
    phase.cost.messages *= chunks;
  };
  for (PhaseCost& phase : cost.on_node) times(phase);
  times(cost.across);
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
  return {{star(gather_linear_cost(s.most, bytes * s.most)), star(bcast_binomial_cost(s.most, bytes))},
          {allgather_direct_cost(s.nodes, bytes * s.size)},
          {{Operation::gather, bytes * s.most}, {Operation::bcast, bytes}},
          combine_ranks_cost(s, bytes)};
}

}  // namespace tutti::schedules
