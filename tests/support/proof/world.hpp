// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "schedules/registry.hpp"

namespace tutti::schedules {

/// What an element of a result must be: the contributions of ranks first to last to one element of their input.
struct Expected {
  bool is_written = false;
  int first = 0;
  int last = 0;
  std::size_t element = 0;
};

/// Where input and output lie in one memory when a rank works in place, in elements.
struct Placement {
  std::size_t input = 0;
  std::size_t output = 0;
};

/// One collective call as all ranks see it together: for the checker and for tools, without MPI. Calls whose ranks do
/// not all send to all say themselves which data they have.
class World {
 public:
  /// count as in Problem. The v-forms get irregular counts around `count`, with zeros, and gaps between blocks.
  /// node_of: the node of each rank; empty: all are on one.
  World(Operation operation, int size, int root, std::size_t count, std::vector<int> node_of = {});
  virtual ~World() = default;
  World(const World&) = default;
  World& operator=(const World&) = default;
  /// With elements of that many bytes, one unless said.
  World& set_element_size(std::size_t bytes);
  /// With nodes whose ranks share memory: phases on a node are exchanges.
  World& share_nodes();
  /// The v-forms with `count` elements a rank, or a pair of ranks, for all.
  World& make_regular();
  /// As Problem::joined_bytes.
  World& join_blocks_up_to(std::size_t bytes);
  /// As Starts::through.
  World& set_start(double bytes);
  /// For an operation that commutes: phases need not keep rank order.
  World& let_order_go();

  [[nodiscard]] Operation operation() const { return operation_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int root() const { return root_; }
  [[nodiscard]] std::size_t element_size() const { return element_size_; }
  [[nodiscard]] const std::vector<int>& node_of() const { return node_of_; }
  /// As cost_of() takes them. Of the v-forms, those that a regular call of that count has.
  [[nodiscard]] double bytes() const;
  [[nodiscard]] Problem problem(int rank) const;
  [[nodiscard]] std::vector<Schedule> schedules(const Algorithm& algorithm) const;

  [[nodiscard]] virtual std::size_t input_count(int rank) const;
  [[nodiscard]] virtual std::size_t output_count(int rank) const;
  /// Whether the output holds the data from the start: at the root of a broadcast.
  [[nodiscard]] virtual bool output_is_given(int rank) const;
  /// Nothing where MPI has no in-place form for the rank.
  [[nodiscard]] virtual std::optional<Placement> in_place(int rank) const;
  /// One entry for each element of the output.
  [[nodiscard]] virtual std::vector<Expected> expected(int rank) const;

 private:
  struct Counts {
    std::vector<std::size_t> counts;
    std::vector<std::size_t> displs;
  };
  [[nodiscard]] int node(int rank) const { return node_of_.empty() ? 0 : node_of_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::size_t count_between(int from, int to) const;
  [[nodiscard]] Counts row(int rank, bool sends) const;
  void make_rows();
  void make_told();
  [[nodiscard]] const Counts& sent_by(int rank) const { return send_[send_.size() > 1 ? rank : 0]; }
  [[nodiscard]] const Counts& received_by(int rank) const { return recv_[recv_.size() > 1 ? rank : 0]; }

  Operation operation_;
  int size_;
  int root_;
  std::size_t count_;
  std::size_t element_size_ = 1;
  bool is_regular_ = false;
  bool shares_nodes_ = false;
  std::size_t joined_bytes_ = Problem{}.joined_bytes;
  Starts starts_{};
  std::vector<int> node_of_;
  NodeMap node_map_;
  /// One for all ranks where they have the same.
  std::vector<Counts> send_;
  std::vector<Counts> recv_;
  std::map<int, std::vector<std::size_t>> told_;  ///< by node
};

}  // namespace tutti::schedules
