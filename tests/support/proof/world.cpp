// SPDX-License-Identifier: BSD-3-Clause
#include "support/proof/world.hpp"

#include <algorithm>
#include <utility>

#include "schedules/blocks.hpp"
#include "schedules/problem.hpp"

namespace tutti::schedules {
namespace {

void put(std::vector<Expected>& result, const Block& at, int first, int last, std::size_t element) {
  for (std::size_t i = 0; i < at.count; ++i) result[at.offset + i] = {true, first, last, element + i};
}

}  // namespace

World::World(Operation operation, int size, int root, std::size_t count, std::vector<int> node_of)
    : operation_(operation),
      size_(size),
      root_(root),
      count_(count),
      node_of_(std::move(node_of)),
      node_map_(node_of_) {
  make_rows();
}

World& World::set_element_size(std::size_t bytes) {
  element_size_ = bytes;
  return *this;
}

World& World::share_nodes() {
  shares_nodes_ = true;
  return *this;
}

World& World::join_blocks_up_to(std::size_t bytes) {
  joined_bytes_ = bytes;
  return *this;
}

World& World::set_start(double bytes) {
  starts_.through = bytes;
  return *this;
}

World& World::let_order_go() {
  starts_.order = KeepOrder::no;
  return *this;
}

World& World::make_regular() {
  is_regular_ = true;
  make_rows();
  return *this;
}

double World::bytes() const {
  const bool is_of_vector = operation_ == Operation::bcast || operation_ == Operation::reduce ||
                            operation_ == Operation::allreduce || operation_ == Operation::scan ||
                            operation_ == Operation::exscan;
  if (operation_ == Operation::barrier) return 0;
  return static_cast<double>(count_ * element_size_) * (is_of_vector ? 1 : size_);
}

void World::make_rows() {
  send_.clear();
  recv_.clear();
  if (!has_counts(operation_)) return;
  const int rows = operation_ == Operation::alltoallv ? size_ : 1;
  for (int i = 0; i < rows; ++i) {
    send_.push_back(row(i, true));
    recv_.push_back(row(i, false));
  }
  make_told();
}

void World::make_told() {
  told_.clear();
  if (!has_hidden_size(operation_)) return;
  for (int rank = 0; rank < size_; ++rank) {
    std::vector<std::size_t>& told = told_[node(rank)];
    for (const std::size_t count : told_row(operation_, problem(rank))) told.push_back(count);
  }
}

std::size_t World::count_between(int from, int to) const {
  if (count_ == 0 || is_regular_) return count_;
  // All but alltoallv have one count a rank: that of the rank that is not the root.
  const auto key = static_cast<std::size_t>(operation_ == Operation::alltoallv    ? 3 * from + 5 * to
                                            : operation_ == Operation::gatherv    ? from
                                            : operation_ == Operation::allgatherv ? from
                                                                                  : to);
  return key % 3 == 1 ? 0 : (7 * key + count_) % (2 * count_ + 1);
}

World::Counts World::row(int rank, bool sends) const {
  Counts row;
  std::size_t end = operation_ == Operation::reduce_scatter ? 0 : 1;
  for (int i = 0; i < size_; ++i) {
    row.counts.push_back(sends ? count_between(rank, i) : count_between(i, rank));
    if (operation_ == Operation::reduce_scatter) row.counts.back() = count_between(rank, i);
    row.displs.push_back(end);
    end += row.counts.back() + (operation_ == Operation::reduce_scatter ? 0 : static_cast<std::size_t>(i) % 3);
  }
  return row;
}

Problem World::problem(int rank) const {
  Problem p{.rank = rank, .size = size_, .root = root_, .count = count_};
  p.element_size = element_size_;
  p.node_of = &node_map_;
  p.shares_nodes = shares_nodes_;
  p.joined_bytes = joined_bytes_;
  p.starts = starts_;
  if (const auto told = told_.find(node(rank)); told != told_.end()) p.told = told->second;
  if (!has_counts(operation_)) return p;
  p.count = 0;
  const Counts& send = sent_by(rank);
  const Counts& recv = received_by(rank);
  const bool is_root = rank == root_;
  if (operation_ == Operation::gatherv || operation_ == Operation::allgatherv)
    p.send_count = count_between(rank, root_);
  if (operation_ == Operation::scatterv) p.recv_count = count_between(root_, rank);
  if (operation_ == Operation::alltoallv || (operation_ == Operation::scatterv && is_root)) {
    p.send_counts = send.counts;
    p.send_displs = send.displs;
  }
  if (operation_ == Operation::scatterv || (operation_ == Operation::gatherv && !is_root)) return p;
  p.recv_counts = recv.counts;
  if (operation_ != Operation::reduce_scatter) p.recv_displs = recv.displs;
  return p;
}

std::vector<Schedule> World::schedules(const Algorithm& algorithm) const {
  std::vector<Schedule> all;
  for (int rank = 0; rank < size_; ++rank) all.push_back(algorithm.generate(problem(rank)));
  return all;
}

std::size_t World::input_count(int rank) const {
  const Problem p = problem(rank);
  const auto blocks = static_cast<std::size_t>(size_);
  switch (operation_) {
    case Operation::barrier:
    case Operation::bcast:
      return 0;
    case Operation::reduce_scatter_block:
    case Operation::alltoall:
      return blocks * count_;
    case Operation::scatter:
      return rank == root_ ? blocks * count_ : 0;
    case Operation::reduce_scatter:
      return end_of(packed_blocks(p.recv_counts));
    case Operation::gatherv:
    case Operation::allgatherv:
      return p.send_count;
    case Operation::scatterv:
    case Operation::alltoallv:
      return end_of(placed_blocks(p.send_counts, p.send_displs));
    default:
      return count_;
  }
}

std::size_t World::output_count(int rank) const {
  const Problem p = problem(rank);
  const auto blocks = static_cast<std::size_t>(size_);
  switch (operation_) {
    case Operation::barrier:
      return 0;
    case Operation::reduce:
      return rank == root_ ? count_ : 0;
    case Operation::gather:
      return rank == root_ ? blocks * count_ : 0;
    case Operation::allgather:
    case Operation::alltoall:
      return blocks * count_;
    case Operation::reduce_scatter:
      return p.recv_counts[rank];
    case Operation::scatterv:
      return p.recv_count;
    case Operation::gatherv:
    case Operation::allgatherv:
    case Operation::alltoallv:
      return end_of(placed_blocks(p.recv_counts, p.recv_displs));
    default:
      return count_;
  }
}

bool World::output_is_given(int rank) const { return operation_ == Operation::bcast && rank == root_; }

std::optional<Placement> World::in_place(int rank) const {
  const Problem p = problem(rank);
  const std::size_t own = static_cast<std::size_t>(rank) * count_;
  const bool is_root = rank == root_;
  switch (operation_) {
    case Operation::allreduce:
    case Operation::scan:
    case Operation::exscan:
    case Operation::reduce_scatter_block:
    case Operation::reduce_scatter:
    case Operation::alltoall:
      return Placement{};
    case Operation::reduce:
      return is_root ? std::optional(Placement{}) : std::nullopt;
    case Operation::allgather:
      return Placement{own, 0};
    case Operation::allgatherv:
      return Placement{p.recv_displs[rank], 0};
    case Operation::gather:
      return is_root ? std::optional(Placement{own, 0}) : std::nullopt;
    case Operation::gatherv:
      return is_root ? std::optional(Placement{p.recv_displs[rank], 0}) : std::nullopt;
    case Operation::scatter:
      return is_root ? std::optional(Placement{0, own}) : std::nullopt;
    case Operation::scatterv:
      return is_root ? std::optional(Placement{0, p.send_displs[rank]}) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::vector<Expected> World::expected(int rank) const {
  std::vector<Expected> result(output_count(rank));
  const Block all{0, result.size()};
  const Problem p = problem(rank);
  const int last = size_ - 1;
  switch (operation_) {
    case Operation::barrier:
      break;
    case Operation::bcast:
      put(result, all, root_, root_, 0);
      break;
    case Operation::reduce:
    case Operation::allreduce:
      put(result, all, 0, last, 0);
      break;
    case Operation::scan:
      put(result, all, 0, rank, 0);
      break;
    case Operation::exscan:
      if (rank > 0) put(result, all, 0, rank - 1, 0);
      break;
    case Operation::reduce_scatter_block:
      put(result, all, 0, last, static_cast<std::size_t>(rank) * count_);
      break;
    case Operation::reduce_scatter:
      put(result, all, 0, last, packed_blocks(p.recv_counts)[rank].offset);
      break;
    case Operation::scatter:
      put(result, all, root_, root_, static_cast<std::size_t>(rank) * count_);
      break;
    case Operation::scatterv:
      put(result, all, root_, root_, sent_by(root_).displs[rank]);
      break;
    case Operation::gather:
    case Operation::allgather:
    case Operation::alltoall: {
      const bool moves_own = operation_ == Operation::alltoall;
      for (int i = 0; !result.empty() && i < size_; ++i)
        put(result, {i * count_, count_}, i, i, moves_own ? rank * count_ : 0);
      break;
    }
    case Operation::gatherv:
    case Operation::allgatherv:
    case Operation::alltoallv: {
      const Blocks blocks = placed_blocks(p.recv_counts, p.recv_displs);
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        const int from = static_cast<int>(i);
        put(result, blocks[i], from, from, operation_ == Operation::alltoallv ? sent_by(from).displs[rank] : 0);
      }
      break;
    }
  }
  return result;
}

}  // namespace tutti::schedules
