// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/levels.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "schedules/algorithms.hpp"
#include "schedules/pipeline.hpp"

namespace tutti::schedules {

Phase phase_on_node(const Layout& l, const Problem& p, Operation operation, double bytes, KeepOrder keep) {
  return {operation, flat_for(operation, l.node_size(), bytes, p.starts.on_node, keep).generate};
}
PhaseCost cost_on_node(const Spread& s, Operation operation, double bytes, KeepOrder keep) {
  const Algorithm& flat = flat_for(operation, s.most, bytes, s.starts.on_node, keep);
  return {cost_of(flat, s.most, bytes, s.starts.on_node.through),
          senders_of(flat, s.most, bytes, s.starts.on_node.through),
          goes_both_ways(flat),
          false,
          hidden_part(flat),
          {},
          &flat};
}
namespace {

/// A link that as many ranks of a node share.
LevelPace among(LevelPace pace, double senders) {
  for (double* at_once : {&pace.several, &pace.one_way, &pace.passing})
    *at_once = std::min(*at_once, pace.shared / senders);
  pace.shared = std::numeric_limits<double>::infinity();
  return pace;
}

}  // namespace

Generate flat_across(const Layout& l, const Problem& p, Operation operation, double bytes, double senders,
                     KeepOrder keep) {
  return flat_for(operation, l.nodes(), bytes, among(p.starts.across, senders), keep).generate;
}
PhaseCost cost_across(const Spread& s, Operation operation, double bytes, double senders, KeepOrder keep) {
  const Algorithm& flat = flat_for(operation, s.nodes, bytes, among(s.starts.across, senders), keep);
  const Cost cost = cost_of(flat, s.nodes, bytes, s.starts.across.through);
  return {cost, senders, goes_both_ways(flat), false, hidden_part(flat), factors_of(flat, cost, s.starts.across),
          &flat};
}

namespace {

/// Appends a flat algorithm of a group, which may cut its vector into chunks by their bytes and the pace of its level.
void append_flat(Composer& c, const Layout& l, const LevelPace& pace, Generate flat, Problem p, const RankList& group,
                 const Slice& in, const Slice& out) {
  p.element_size = l.element_size();
  p.starts.through = pace.through;
  c.append(flat(p), group, in, out);
}

}  // namespace

void on_node(Composer& c, const Layout& l, const Phase& phase, const Problem& p, const Slice& in, const Slice& out,
             Start start) {
  if (!l.shares_nodes() || l.node_size() == 1)
    return append_flat(c, l, l.spread().starts.on_node, phase.flat, p, l.members(), in, out);
  const auto list = [](std::span<const std::size_t> counts) { return std::vector(counts.begin(), counts.end()); };
  Exchange exchange{phase.operation,
                    p.root,
                    p.count,
                    p.send_count,
                    p.recv_count,
                    list(p.send_counts),
                    list(p.send_displs),
                    list(p.recv_counts),
                    list(p.recv_displs),
                    in,
                    out};
  if (has_shared_counts(phase.operation))
    exchange.count = std::accumulate(p.recv_counts.begin(), p.recv_counts.end(), std::size_t{0});
  c.exchange(std::move(exchange), start);
}

void on_node(Composer& c, const Layout& l, const Phase& phase, std::size_t count, const Slice& in, const Slice& out) {
  on_node(c, l, phase, problem_in_group(l.index(), l.members().size(), l.leader_index(), count), in, out);
}

void among_leaders(Composer& c, const Layout& l, Generate flat, int root_node, std::size_t count, const Slice& in,
                   const Slice& out) {
  if (!l.is_leader()) return;
  append_flat(c, l, l.spread().starts.across, flat, problem_in_group(l.node(), l.leaders().size(), root_node, count),
              l.leaders(), in, out);
}

void among_peers(Composer& c, const Layout& l, Generate flat, int root_node, std::size_t count, const Slice& in,
                 const Slice& out) {
  if (!l.has_peers()) return;
  const RankList peers = l.peers();
  append_flat(c, l, l.spread().starts.across, flat, problem_in_group(l.node(), peers.size(), root_node, count), peers,
              in, out);
}

namespace {

Blocks blocks_of(const Layout& layout, std::size_t count) {
  Blocks blocks = even_blocks(count, layout.spread().least);
  blocks.resize(layout.members().size(), {count, 0});
  return blocks;
}

/// A phase in which all members send and receive.
PhaseCost exchange(const Spread& s, const Cost& cost) { return {cost, static_cast<double>(s.most)}; }

/// Whether all members' blocks have one size, which they all know: exchanges then go the shorter way.
bool has_one_size(const Layout& l, std::span<const std::size_t> counts) {
  return l.shares_nodes() && std::ranges::count(counts, counts.front()) == l.node_size();
}

}  // namespace

Shares::Shares(const Layout& layout, const Problem& problem, std::size_t count, bool one_round)
    : layout_(&layout),
      problem_(&problem),
      bytes_(bytes_of(problem, count) * layout.node_size() / layout.spread().least),
      one_round_(one_round),
      lists_(blocks_of(layout, count)) {}

void gather_blocks(Composer& c, const Layout& l, std::span<const std::size_t> counts,
                   std::span<const std::size_t> displs, const Slice& own, const Slice& whole) {
  if (has_one_size(l, counts)) return on_node(c, l, {Operation::gather, gather_linear}, own.count, own, whole);
  Problem p = problem_in_group(l.index(), l.members().size(), l.leader_index(), 0);
  p.send_count = own.count;
  if (l.is_leader()) {
    p.recv_counts = counts;
    p.recv_displs = displs;
  }
  on_node(c, l, {Operation::gatherv, gatherv_linear}, p, own, whole);
}

void scatter_blocks(Composer& c, const Layout& l, std::span<const std::size_t> counts,
                    std::span<const std::size_t> displs, const Slice& whole, const Slice& own) {
  if (has_one_size(l, counts)) return on_node(c, l, {Operation::scatter, scatter_linear}, own.count, whole, own);
  Problem p = problem_in_group(l.index(), l.members().size(), l.leader_index(), 0);
  p.recv_count = own.count;
  if (l.is_leader()) {
    p.send_counts = counts;
    p.send_displs = displs;
  }
  on_node(c, l, {Operation::scatterv, scatterv_linear}, p, whole, own);
}

void Shares::reduce_scatter(Composer& c, const Slice& whole, const Slice& share) const {
  Problem p = problem_in_group(layout_->index(), lists_.counts.size(), 0, 0);
  p.recv_counts = lists_.counts;
  const Phase direct{Operation::reduce_scatter, reduce_scatter_direct};
  const Phase best = phase_on_node(*layout_, *problem_, Operation::reduce_scatter, bytes_, problem_->starts.order);
  on_node(c, *layout_, one_round_ ? direct : best, p, whole, share);
}

PhaseCost Shares::reduce_scatter_cost(const Spread& s, double bytes, bool one_round) {
  if (one_round) return exchange(s, reduce_scatter_direct_cost(s.most, bytes_with_shares(s, bytes)));
  return cost_on_node(s, Operation::reduce_scatter, bytes_with_shares(s, bytes), s.starts.order);
}

void Shares::allgather(Composer& c, const Slice& share, const Slice& whole) const {
  if (has_one_size(*layout_, lists_.counts))
    return on_node(c, *layout_, {Operation::allgather, allgather_direct}, share.count, share, whole);
  Problem p = problem_in_group(layout_->index(), lists_.counts.size(), 0, 0);
  p.send_count = share.count;
  p.recv_counts = lists_.counts;
  p.recv_displs = lists_.displs;
  const Phase direct{Operation::allgatherv, allgatherv_direct};
  on_node(c, *layout_, one_round_ ? direct : phase_on_node(*layout_, *problem_, Operation::allgatherv, bytes_), p,
          share, whole);
}

PhaseCost Shares::allgather_cost(const Spread& s, double bytes, bool one_round) {
  if (one_round) return exchange(s, allgather_direct_cost(s.most, bytes_with_shares(s, bytes)));
  return cost_on_node(s, Operation::allgatherv, bytes_with_shares(s, bytes));
}

void Shares::gather(Composer& c, const Slice& share, const Slice& whole) const {
  gather_blocks(c, *layout_, lists_.counts, lists_.displs, share, whole);
}

void Shares::scatter(Composer& c, const Slice& whole, const Slice& share) const {
  scatter_blocks(c, *layout_, lists_.counts, lists_.displs, whole, share);
}

Blocks of_members(const Layout& l, const Blocks& ranks) {
  Blocks blocks;
  for (const int rank : l.members()) blocks.push_back(ranks[static_cast<std::size_t>(rank)]);
  return blocks;
}

NodeBlocks::NodeBlocks(const Layout& layout, std::vector<std::size_t> counts)
    : layout_(&layout), of_rank_(counts.size()) {
  for (int node = 0; node < layout.nodes(); ++node) {
    node_displs_.push_back(total_);
    for (const int rank : layout.members(node)) {
      const auto r = static_cast<std::size_t>(rank);
      of_rank_[r] = {total_, counts[r]};
      total_ += counts[r];
    }
    node_counts_.push_back(total_ - node_displs_.back());
  }
}

std::vector<std::size_t> NodeBlocks::member_counts(int node) const {
  std::vector<std::size_t> counts;
  for (const int rank : layout_->members(node)) counts.push_back(of_rank(rank).count);
  return counts;
}

std::vector<std::size_t> NodeBlocks::member_displs(int node) const {
  std::vector<std::size_t> displs;
  for (const int rank : layout_->members(node)) displs.push_back(of_rank(rank).offset - of_node(node).offset);
  return displs;
}

bool NodeBlocks::lie_as(const Blocks& blocks) const {
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].offset != blocks.front().offset + of_rank_[i].offset) return false;
  return true;
}

void gather_on_node(Composer& c, const Layout& l, const NodeBlocks& blocks, const Slice& own, const Slice& whole) {
  const Block node = blocks.of_node(l.node());
  gather_blocks(c, l, blocks.member_counts(l.node()), blocks.member_displs(l.node()), own, part_of(whole, node));
}

void allgather_to_leaders(Composer& c, const Layout& l, const NodeBlocks& blocks, Generate flat, const Slice& own,
                          const Slice& whole) {
  gather_on_node(c, l, blocks, own, whole);
  if (!l.is_leader()) return;
  const Block node = blocks.of_node(l.node());
  Problem p = problem_in_group(l.node(), l.leaders().size(), 0, 0);
  p.send_count = node.count;
  p.recv_counts = blocks.node_counts();
  p.recv_displs = blocks.node_displs();
  c.append(flat(p), l.leaders(), part_of(whole, node), whole);
}

void gather_from_leaders(Composer& c, const Layout& l, const NodeBlocks& blocks, const Problem& p, const Slice& mine,
                         const Slice& whole) {
  if (!l.is_leader()) return;
  Problem q = problem_in_group(l.node(), l.leaders().size(), l.node_of(p.root), 0);
  q.send_count = blocks.of_node(l.node()).count;
  if (p.rank == p.root) {
    q.recv_counts = blocks.node_counts();
    q.recv_displs = blocks.node_displs();
  }
  c.append(gatherv_linear(q), l.leaders(), mine, whole);
}

void combine_ranks(Composer& c, const NodeBlocks& blocks, const Slice& whole, const Slice& result) {
  std::vector<Slice> parts;
  for (int rank = 0; rank < blocks.ranks(); ++rank) parts.push_back(part_of(whole, blocks.of_rank(rank)));
  c.reduce(std::move(parts), result);
}

Cost combine_ranks_cost(const Spread& s, double bytes) {
  if (s.size == 1) return copies(bytes);
  return {.reduced_bytes = bytes * s.size};
}

void to_rank_order(Composer& c, const NodeBlocks& from, const Slice& whole, const Blocks& to, const Slice& base) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const Block& block = from.of_rank(static_cast<int>(i));
    c.copy(part_of(whole, block), part_of(base, to[i]));
  }
}

void to_node_order(Composer& c, const Blocks& from, const Slice& base, const NodeBlocks& to, const Slice& whole) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Block& block = to.of_rank(static_cast<int>(i));
    c.copy(part_of(base, from[i]), part_of(whole, block));
  }
}

Cost operator+(const Cost& a, const Cost& b) {
  return {.rounds = a.rounds + b.rounds,
          .bytes = a.bytes + b.bytes,
          .reduced_bytes = a.reduced_bytes + b.reduced_bytes,
          .copied_bytes = a.copied_bytes + b.copied_bytes,
          .messages = a.messages + b.messages};
}

}  // namespace tutti::schedules
