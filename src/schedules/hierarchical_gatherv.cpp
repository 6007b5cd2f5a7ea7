// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <optional>

#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/node_traffic.hpp"

namespace tutti::schedules {
namespace {

std::size_t sum_of(const Blocks& blocks) {
  return std::accumulate(blocks.begin(), blocks.end(), std::size_t{0},
                         [](std::size_t sum, const Block& block) { return sum + block.count; });
}

/// Where blocks follow one another without gaps, empty ones aside: all of them as one.
std::optional<Block> as_one(const Blocks& blocks) {
  std::optional<Block> all;
  for (const Block& block : blocks) {
    if (block.count == 0) continue;
    if (!all) all = Block{block.offset, 0};
    if (all->offset + all->count != block.offset) return std::nullopt;
    all->count += block.count;
  }
  return all ? all : Block{};
}

/// What the root exchanges with one node.
struct NodePart {
  RankList members;
  Blocks blocks;               ///< of the members, in the root's buffer
  bool is_joined = false;      ///< one message, and not one a rank
  std::optional<Block> one{};  ///< all blocks, where they lie in the order of the message
  Slice staged{};              ///< else the message
};

/// The root's parts of all nodes but its own, with scratch for those that need it.
std::vector<NodePart> parts_of(Composer& c, const Layout& l, const Problem& p, const Blocks& ranks) {
  std::vector<NodePart> parts;
  for (int node = 0; node < l.nodes(); ++node) {
    if (node == l.node()) continue;
    NodePart part{l.members(node), {}};
    for (const int rank : part.members) part.blocks.push_back(ranks[static_cast<std::size_t>(rank)]);
    const std::size_t count = sum_of(part.blocks);
    part.is_joined = are_joined(p, count, part.members.size());
    part.one = as_one(part.blocks);
    if (part.is_joined && !part.one) part.staged = c.reserve(count);
    parts.push_back(std::move(part));
  }
  return parts;
}

/// Calls move(rank, slice) for each message of a part. `base` makes a slice of the root's buffer of a block.
template <typename Base, typename Move>
void for_each_message(const Layout& l, const NodePart& part, const Base& base, const Move& move) {
  if (part.is_joined) {
    const int leader = l.leader(l.node_of(part.members[0]));
    return move(leader, part.one ? base(*part.one) : part.staged);
  }
  for (std::size_t i = 0; i < part.members.size(); ++i) move(part.members[i], base(part.blocks[i]));
}

/// Calls copy(staged, place) for each block of a message that does not lie in order.
template <typename Base, typename Copy>
void for_each_copy(const NodePart& part, const Base& base, const Copy& copy) {
  if (!part.is_joined || part.one) return;
  std::size_t end = 0;
  for (const Block& block : part.blocks) {
    copy(part_of(part.staged, end, block.count), base(block));
    end += block.count;
  }
}

/// Gathers the blocks at the leader of the node, which alone knows places other than one behind another.
void gather_here(Composer& c, const Layout& l, const Blocks& blocks, const Slice& own, const Slice& whole,
                 Start start) {
  const CountLists lists(blocks);
  Problem p = problem_in_group(l.index(), l.members().size(), l.leader_index(), 0);
  p.send_count = own.count;
  if (l.is_leader()) {
    p.recv_counts = lists.counts;
    p.recv_displs = lists.displs;
  }
  on_node(c, l, {Operation::gatherv, gatherv_linear}, p, own, whole, start);
}

void scatter_here(Composer& c, const Layout& l, const Blocks& blocks, const Slice& whole, const Slice& own,
                  Start start) {
  const CountLists lists(blocks);
  Problem p = problem_in_group(l.index(), l.members().size(), l.leader_index(), 0);
  p.recv_count = own.count;
  if (l.is_leader()) {
    p.send_counts = lists.counts;
    p.send_displs = lists.displs;
  }
  on_node(c, l, {Operation::scatterv, scatterv_linear}, p, whole, own, start);
}

void gather_at_root(Composer& c, const Layout& l, const Problem& p) {
  const Blocks ranks = placed_blocks(p.recv_counts, p.recv_displs);
  const std::vector<NodePart> parts = parts_of(c, l, p, ranks);
  const auto base = [](const Block& block) { return output(block); };
  for (const NodePart& part : parts)
    for_each_message(l, part, base, [&](int rank, const Slice& slice) { c.recv(rank, slice); });
  for (const NodePart& part : parts)
    for_each_copy(part, base, [&](const Slice& staged, const Slice& place) { c.copy(staged, place); });
  const Blocks here = of_members(l, ranks);
  gather_here(c, l, here, input(0, p.send_count), output(0, end_of(here)), Start::beside);
}

void scatter_at_root(Composer& c, const Layout& l, const Problem& p) {
  const Blocks ranks = placed_blocks(p.send_counts, p.send_displs);
  const std::vector<NodePart> parts = parts_of(c, l, p, ranks);
  const auto base = [](const Block& block) { return input(block); };
  for (const NodePart& part : parts)
    for_each_copy(part, base, [&](const Slice& staged, const Slice& place) { c.copy(place, staged); });
  c.end_round();
  for (const NodePart& part : parts)
    for_each_message(l, part, base, [&](int rank, const Slice& slice) { c.send(rank, slice); });
  const Blocks here = of_members(l, ranks);
  scatter_here(c, l, here, input(0, end_of(here)), output(0, p.recv_count), Start::beside);
}

}  // namespace

Schedule gatherv_hierarchical(const Problem& p) {
  const Layout l(p, Layout::Leaders::root);
  Composer c;
  const Blocks told = packed_blocks(p.told);
  const std::size_t count = sum_of(told);
  const Slice own = input(0, p.send_count);
  if (p.rank == p.root) {
    gather_at_root(c, l, p);
  } else if (l.node() == l.node_of(p.root)) {
    gather_here(c, l, told, own, {}, Start::after);
  } else if (l.node_size() == 1 || !are_joined(p, count, told.size())) {
    c.send(p.root, own);
  } else {
    const Slice whole = c.reserve(l.is_leader() ? count : 0);
    gather_here(c, l, told, own, whole, Start::after);
    if (l.is_leader()) c.send(p.root, whole);
  }
  return c.finish(true);
}

LevelCost gatherv_hierarchical_cost(const Spread& s, double bytes) {
  const double node = bytes * s.most / s.size;
  return {{star(gather_linear_cost(s.most, node))},
          star(gather_linear_cost(s.nodes, bytes)),
          {{Operation::allgather, sizeof(std::size_t) * static_cast<double>(s.most)}, {Operation::gatherv, node}},
          copies(s.adjacent ? 0 : bytes)};
}

Schedule scatterv_hierarchical(const Problem& p) {
  const Layout l(p, Layout::Leaders::root);
  Composer c;
  const Blocks told = packed_blocks(p.told);
  const std::size_t count = sum_of(told);
  const Slice own = output(0, p.recv_count);
  if (p.rank == p.root) {
    scatter_at_root(c, l, p);
  } else if (l.node() == l.node_of(p.root)) {
    scatter_here(c, l, told, {}, own, Start::after);
  } else if (l.node_size() == 1 || !are_joined(p, count, told.size())) {
    c.recv(p.root, own);
  } else {
    const Slice whole = c.reserve(l.is_leader() ? count : 0);
    if (l.is_leader()) c.recv(p.root, whole);
    scatter_here(c, l, told, whole, own, Start::after);
  }
  return c.finish(true);
}

LevelCost scatterv_hierarchical_cost(const Spread& s, double bytes) {
  const double node = bytes * s.most / s.size;
  return {{star(scatter_linear_cost(s.most, node))},
          star(scatter_linear_cost(s.nodes, bytes)),
          {{Operation::allgather, sizeof(std::size_t) * static_cast<double>(s.most)}, {Operation::scatterv, node}},
          copies(s.adjacent ? 0 : bytes)};
}

}  // namespace tutti::schedules
