// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/pipeline.hpp"

namespace tutti::schedules {
namespace {

/// The blocks of all members of a leader's node for all ranks: by member and then by the other rank, or by the other
/// rank's node, then by the sender's rank, then by the receiver's.
class Matrix {
 public:
  Matrix(const Layout& l, std::size_t count) : l_(l), count_(count) {}

  [[nodiscard]] Slice by_member(const Slice& base, int index, int other) const {
    return block(base, static_cast<std::size_t>(index) * l_.order().size() + static_cast<std::size_t>(other));
  }
  [[nodiscard]] Slice to_node(const Slice& base, int index, int receiver) const {
    const int node = l_.node_of(receiver);
    return block(base, in_rows(start_of(node), index, l_.node_size(node), l_.index_of(receiver)));
  }
  [[nodiscard]] Slice from_node(const Slice& base, int sender, int index) const {
    return block(base, in_rows(start_of(l_.node_of(sender)), l_.index_of(sender), l_.node_size(), index));
  }
  /// Elements exchanged with each node, and where they lie.
  [[nodiscard]] std::vector<std::size_t> counts() const {
    std::vector<std::size_t> all;
    for (int node = 0; node < l_.nodes(); ++node) all.push_back(l_.members().size() * l_.members(node).size() * count_);
    return all;
  }
  [[nodiscard]] std::vector<std::size_t> displs() const {
    std::vector<std::size_t> all;
    for (int node = 0; node < l_.nodes(); ++node) all.push_back(start_of(node) * count_);
    return all;
  }

 private:
  [[nodiscard]] std::size_t start_of(int node) const { return l_.first_of(node) * l_.members().size(); }
  /// The number of an entry in rows of one length, behind `first` others.
  [[nodiscard]] static std::size_t in_rows(std::size_t first, int row, int length, int entry) {
    return first + static_cast<std::size_t>(row) * static_cast<std::size_t>(length) + static_cast<std::size_t>(entry);
  }
  [[nodiscard]] Slice block(const Slice& base, std::size_t i) const { return part_of(base, i * count_, count_); }

  const Layout& l_;
  std::size_t count_;
};

void exchange_among_leaders(Composer& c, const Layout& l, const Matrix& matrix, const Slice& in, const Slice& out) {
  const std::vector<std::size_t> counts = matrix.counts();
  const std::vector<std::size_t> displs = matrix.displs();
  Problem p = problem_in_group(l.node(), l.leaders().size(), 0, 0);
  p.send_counts = p.recv_counts = counts;
  p.send_displs = p.recv_displs = displs;
  c.append(alltoallv_direct(p), l.leaders(), in, out);
}

}  // namespace

Schedule alltoall_hierarchical(const Problem& p) {
  const Layout l(p);
  const Matrix matrix(l, p.count);
  Composer c;
  const std::size_t row = p.count * static_cast<std::size_t>(p.size);
  const std::size_t all = l.is_leader() ? row * l.members().size() : 0;
  const Slice rows = c.reserve(all);
  const Slice moved = c.reserve(all);
  on_node(c, l, {Operation::gather, gather_linear}, row, input(0, row), rows);
  if (l.is_leader()) {
    for (int index = 0; index < l.node_size(); ++index)
      for (const int receiver : l.order())
        c.copy(matrix.by_member(rows, index, receiver), matrix.to_node(moved, index, receiver));
    exchange_among_leaders(c, l, matrix, moved, rows);
    for (int index = 0; index < l.node_size(); ++index)
      for (int sender = 0; sender < p.size; ++sender)
        c.copy(matrix.from_node(rows, sender, index), matrix.by_member(moved, index, sender));
  }
  on_node(c, l, {Operation::scatter, scatter_linear}, row, moved, output(0, row));
  return c.finish(true);
}

LevelCost alltoall_hierarchical_cost(const Spread& s, double bytes) {
  const double node = bytes * s.most;
  return {{star(gather_linear_cost(s.most, node)), star(scatter_linear_cost(s.most, node))},
          {alltoall_direct_cost(s.nodes, node)},
          {{Operation::gather, node}, {Operation::scatter, node}},
          copies(2 * node)};
}

Schedule alltoall_hierarchical_split(const Problem& p) {
  const Layout l(p);
  Composer c;
  const std::size_t n = p.count;
  const auto nodes = static_cast<std::size_t>(l.nodes());
  const std::size_t members = l.members().size();
  const std::size_t row = n * static_cast<std::size_t>(p.size);
  const Slice sorted = c.reserve(row);
  const Slice moved = c.reserve(row);
  const auto node = [&](int rank) { return static_cast<std::size_t>(l.node_of(rank)); };
  const auto place = [&](int rank) { return static_cast<std::size_t>(l.index_of(rank)); };

  // Send to the member at the receiver's place: it collects its node's blocks for that place on each other node.
  for (std::size_t i = 0; i < members; ++i)
    for (std::size_t k = 0; k < nodes; ++k) {
      const auto receiver = static_cast<std::size_t>(l.members(static_cast<int>(k))[i]);
      c.copy(input(receiver * n, n), part_of(sorted, (i * nodes + k) * n, n));
    }
  const double bytes = bytes_of(p) * p.size;
  on_node(c, l, phase_on_node(l, p, Operation::alltoall, bytes), nodes * n, sorted, moved);
  for (std::size_t k = 0; k < nodes; ++k)
    for (std::size_t i = 0; i < members; ++i)
      c.copy(part_of(moved, (i * nodes + k) * n, n), part_of(sorted, (k * members + i) * n, n));
  among_peers(c, l, flat_across(l, p, Operation::alltoall, bytes, l.node_size()), 0, members * n, sorted, moved);
  for (int rank = 0; rank < p.size; ++rank)
    c.copy(part_of(moved, (node(rank) * members + place(rank)) * n, n), output(static_cast<std::size_t>(rank) * n, n));
  return c.finish(true);
}

LevelCost alltoall_hierarchical_split_cost(const Spread& s, double bytes) {
  return {{cost_on_node(s, Operation::alltoall, bytes)},
          cost_across(s, Operation::alltoall, bytes, s.most),
          {{Operation::alltoall, bytes}},
          copies(3 * bytes)};
}

}  // namespace tutti::schedules
