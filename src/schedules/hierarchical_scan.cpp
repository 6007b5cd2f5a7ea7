// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/pipeline.hpp"

namespace tutti::schedules {
namespace {

/// Every member but the first gets what the one before it has.
Schedule shift(const Problem& p) {
  Builder b;
  if (p.rank + 1 < p.size) b.send(p.rank + 1, input(0, p.count));
  if (p.rank > 0) b.recv(p.rank - 1, output(0, p.count));
  return b.finish(0, true);
}

/// Brings the sum of all earlier nodes to every rank. Each node's last rank, which has the sum of its node, passes it
/// on. True if there are earlier nodes.
bool share_earlier_nodes(Composer& c, const Layout& l, const Problem& p, const Slice& node_sum, const Slice& earlier) {
  const RankList last = l.last_members();
  const std::size_t members = l.members().size();
  if (l.index() + 1 == l.node_size())
    c.append(flat_across(l, p, Operation::exscan, bytes_of(p), 1,
                         KeepOrder::yes)(problem_in_group(l.node(), last.size(), 0, node_sum.count)),
             last, node_sum, earlier);
  if (l.node() == 0) return false;
  on_node(c, l, phase_on_node(l, p, Operation::bcast, bytes_of(p)),
          problem_in_group(l.index(), members, l.node_size() - 1, earlier.count), {}, earlier);
  return true;
}

}  // namespace

Schedule scan_hierarchical(const Problem& p) {
  const Layout l(p);
  Composer c;
  const Slice result = output(0, p.count);
  const Slice earlier = c.reserve(p.count);
  on_node(c, l, phase_on_node(l, p, Operation::scan, bytes_of(p), KeepOrder::yes), p.count, input(0, p.count), result);
  if (share_earlier_nodes(c, l, p, result, earlier)) c.reduce({earlier, result}, result);
  return c.finish(true);
}

LevelCost scan_hierarchical_cost(const Spread& s, double bytes) {
  return {{cost_on_node(s, Operation::scan, bytes, KeepOrder::yes), cost_on_node(s, Operation::bcast, bytes)},
          cost_across(s, Operation::exscan, bytes, 1, KeepOrder::yes),
          {{Operation::scan, bytes}, {Operation::bcast, bytes}},
          {.reduced_bytes = s.nodes > 1 ? 2 * bytes : 0}};
}

Schedule exscan_hierarchical(const Problem& p) {
  const Layout l(p);
  Composer c;
  const Slice result = output(0, p.count);
  const Slice inclusive = c.reserve(p.count);
  const Slice earlier = c.reserve(p.count);
  on_node(c, l, phase_on_node(l, p, Operation::scan, bytes_of(p), KeepOrder::yes), p.count, input(0, p.count),
          inclusive);
  const bool has_earlier = share_earlier_nodes(c, l, p, inclusive, earlier);
  if (l.shares_nodes())
    on_node(c, l, {Operation::exscan, exscan_recursive_doubling}, p.count, input(0, p.count), result);
  else
    on_node(c, l, {Operation::exscan, shift}, p.count, inclusive, result);
  if (has_earlier && l.index() > 0) c.reduce({earlier, result}, result);
  if (has_earlier && l.index() == 0) c.copy(earlier, result);
  return c.finish(true);
}

LevelCost exscan_hierarchical_cost(const Spread& s, double bytes) {
  LevelCost cost = scan_hierarchical_cost(s, bytes);
  if (s.most > 1) cost.on_node.push_back({{.rounds = 1, .bytes = bytes, .messages = 1}, static_cast<double>(s.most)});
  cost.exchanges.push_back({Operation::exscan, bytes});
  cost.local = cost.local + copies(s.nodes > 1 ? bytes : 0);
  return cost;
}

}  // namespace tutti::schedules
