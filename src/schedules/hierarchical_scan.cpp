// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"

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
bool share_earlier_nodes(Composer& c, const Layout& l, const Slice& node_sum, const Slice& earlier) {
  Ranks last;
  for (int node = 0; node < l.nodes(); ++node) last.push_back(l.members(node).back());
  const std::size_t members = l.members().size();
  if (l.index() + 1 == l.node_size())
    c.append(exscan_recursive_doubling(problem_in_group(l.node(), last.size(), 0, node_sum.count)), last, node_sum,
             earlier);
  if (l.node() == 0) return false;
  on_node(c, l, {Operation::bcast, bcast_binomial},
          problem_in_group(l.index(), members, l.node_size() - 1, earlier.count), {}, earlier);
  return true;
}

}  // namespace

Schedule scan_hierarchical(const Problem& p) {
  const Layout l(p);
  Composer c;
  const Slice result = output(0, p.count);
  const Slice earlier = c.reserve(p.count);
  on_node(c, l, {Operation::scan, scan_recursive_doubling}, p.count, input(0, p.count), result);
  if (share_earlier_nodes(c, l, result, earlier)) c.reduce({earlier, result}, result);
  return c.finish(true);
}

LevelCost scan_hierarchical_cost(const Spread& s, double bytes) {
  const Cost combine{.reduced_bytes = 2 * bytes};
  return {scan_recursive_doubling_cost(s.most, bytes) + bcast_binomial_cost(s.most, bytes) +
              (s.nodes > 1 ? combine : Cost{}),
          exscan_recursive_doubling_cost(s.nodes, bytes),
          1,
          {{Operation::scan, bytes}, {Operation::bcast, bytes}},
          s.nodes > 1 ? combine : Cost{}};
}

Schedule exscan_hierarchical(const Problem& p) {
  const Layout l(p);
  Composer c;
  const Slice result = output(0, p.count);
  const Slice inclusive = c.reserve(p.count);
  const Slice earlier = c.reserve(p.count);
  on_node(c, l, {Operation::scan, scan_recursive_doubling}, p.count, input(0, p.count), inclusive);
  const bool has_earlier = share_earlier_nodes(c, l, inclusive, earlier);
  if (l.shares_nodes())
    on_node(c, l, {Operation::exscan, exscan_recursive_doubling}, p.count, input(0, p.count), result);
  else
    on_node(c, l, {Operation::exscan, shift}, p.count, inclusive, result);
  if (has_earlier && l.index() > 0) c.reduce({earlier, result}, result);
  if (has_earlier && l.index() == 0) c.copy(earlier, result);
  return c.finish(true);
}

LevelCost exscan_hierarchical_cost(const Spread& s, double bytes) {
  const double is_shared = s.most > 1 ? 1 : 0;
  const Cost last{.rounds = is_shared, .bytes = is_shared * bytes, .messages = is_shared};
  LevelCost cost = scan_hierarchical_cost(s, bytes);
  cost.on_node = cost.on_node + last + copies(s.nodes > 1 ? bytes : 0);
  cost.local = cost.local + copies(s.nodes > 1 ? bytes : 0);
  cost.exchanges.push_back({Operation::exscan, bytes});
  return cost;
}

}  // namespace tutti::schedules
