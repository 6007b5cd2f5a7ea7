// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <numeric>

#include "call/binding.hpp"
#include "call/signature.hpp"
#include "schedules/blocks.hpp"

namespace tutti::detail::shm {

using schedules::Block;

/// The exchange of blocks in one operation, as one rank sees it, in elements. Every operation is an exchange: a rank
/// gives blocks of its source, and copies the blocks that it takes into its output or combines them.
class Geometry {
 public:
  Geometry(const Signature& signature, const Binding& binding, int rank, int size)
      : signature_(&signature), binding_(&binding), rank_(rank), size_(size) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int root() const { return signature_->root; }
  [[nodiscard]] Operation operation() const { return signature_->operation; }

  [[nodiscard]] bool combines() const { return schedules::combines(operation(), size_); }

  [[nodiscard]] bool is_split() const { return schedules::is_split(operation()); }
  /// Returns true if ranks first publish the size of their largest block.
  [[nodiscard]] bool is_varying() const { return schedules::is_varying(operation()); }

  /// Returns true if rank `from` gives data to rank `to`.
  [[nodiscard]] bool flows(int from, int to) const {
    switch (operation()) {
      case Operation::bcast:
      case Operation::scatter:
      case Operation::scatterv:
        return from == signature_->root && to != from;
      case Operation::reduce:
      case Operation::gather:
      case Operation::gatherv:
        return to == signature_->root && to != from;
      case Operation::scan:
      case Operation::exscan:
        return from < to;
      default:
        return from != to;
    }
  }

  /// The block of this rank's source that rank `to` takes.
  [[nodiscard]] Block given(int to) const {
    const auto reader = static_cast<std::size_t>(to);
    switch (operation()) {
      case Operation::reduce_scatter_block:
      case Operation::scatter:
      case Operation::alltoall:
        return {reader * signature_->count, signature_->count};
      case Operation::reduce_scatter:
        return part(to);
      case Operation::scatterv:
      case Operation::alltoallv:
        return {binding_->send_displs[reader], binding_->send_counts[reader]};
      case Operation::gatherv:
      case Operation::allgatherv:
        return {0, binding_->send_count};
      default:
        return {0, signature_->count};
    }
  }

  /// The block of this rank's output that takes the data of rank `from`. Not for operations that combine.
  [[nodiscard]] Block taken(int from) const {
    const auto giver = static_cast<std::size_t>(from);
    switch (operation()) {
      case Operation::gather:
      case Operation::allgather:
      case Operation::alltoall:
        return {giver * signature_->count, signature_->count};
      case Operation::gatherv:
      case Operation::allgatherv:
      case Operation::alltoallv:
        return {binding_->recv_displs[giver], binding_->recv_counts[giver]};
      case Operation::scatterv:
        return {0, binding_->recv_count};
      default:
        return {0, signature_->count};
    }
  }

  /// The position of the block from rank `from` to rank `to` in the source of `from` and in the output of `to`, if
  /// every rank can compute it.
  [[nodiscard]] std::size_t given_offset(int to) const {
    return is_split() ? static_cast<std::size_t>(to) * signature_->count : 0;
  }
  [[nodiscard]] std::size_t taken_offset(int from) const {
    const bool has_block_a_rank =
        operation() == Operation::gather || operation() == Operation::allgather || operation() == Operation::alltoall;
    return has_block_a_rank ? static_cast<std::size_t>(from) * signature_->count : 0;
  }

  /// For an operation that combines: the range of rank `to`'s result in every rank's source.
  [[nodiscard]] Block part(int to) const {
    if (operation() == Operation::reduce_scatter_block)
      return {static_cast<std::size_t>(to) * signature_->count, signature_->count};
    if (operation() == Operation::reduce_scatter) {
      const auto& counts = binding_->recv_counts;
      return {std::accumulate(counts.begin(), counts.begin() + to, std::size_t{0}),
              counts[static_cast<std::size_t>(to)]};
    }
    return {0, signature_->count};
  }
  /// The number of ranks, from rank 0 on, whose contributions are combined for rank `to`.
  [[nodiscard]] int contributions(int to) const {
    if (operation() == Operation::scan) return to + 1;
    if (operation() == Operation::exscan) return to;
    return size_;
  }
  /// Returns true if rank `to` gets a result.
  [[nodiscard]] bool has_result(int to) const {
    if (operation() == Operation::reduce) return to == signature_->root;
    return operation() != Operation::exscan || to > 0;
  }

  /// The size of the largest block that this rank gives, in elements.
  [[nodiscard]] std::size_t largest_given() const {
    std::size_t largest = 0;
    for (int to = 0; to < size_; ++to)
      if (flows(rank_, to)) largest = std::max(largest, given(to).count);
    return largest;
  }

 private:
  const Signature* signature_;
  const Binding* binding_;
  int rank_;
  int size_;
};

}  // namespace tutti::detail::shm
