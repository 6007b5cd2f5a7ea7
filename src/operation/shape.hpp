// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "operation/binding.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

/// The shape of one call as one rank sees it, in elements: which rank gives data to which, the blocks of its buffers,
/// and what it reads and writes. Every operation is an exchange: a rank gives blocks of its input, and copies the
/// blocks that it takes into its output or combines them.
class Shape {
 public:
  /// The arguments outlive the shape.
  Shape(const Signature& signature, const Binding& binding, int rank, int size)
      : signature_(&signature), binding_(&binding), rank_(rank), size_(size) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int root() const { return signature_->root; }
  [[nodiscard]] bool is_root() const { return rank_ == signature_->root; }
  [[nodiscard]] Operation operation() const { return signature_->operation; }

  [[nodiscard]] bool combines() const { return tutti::combines(operation(), size_); }
  [[nodiscard]] bool is_split() const { return tutti::is_split(operation()); }
  /// Returns true if ranks first publish the size of their largest block.
  [[nodiscard]] bool is_varying() const { return tutti::is_varying(operation()); }

  /// Returns true if rank `from` gives data to rank `to`.
  [[nodiscard]] bool flows(int from, int to) const {
    if (row().has_root()) return (row().root == RootPart::gives ? from : to) == root() && to != from;
    return is_prefix(operation()) ? from < to : from != to;
  }
  /// Returns true if rank `to` takes data of its own, from itself.
  [[nodiscard]] bool has_own_block() const { return tutti::has_own_block(operation(), is_root()); }

  /// The block of this rank's input that rank `to` takes.
  [[nodiscard]] Block given(int to) const {
    const auto reader = static_cast<std::size_t>(to);
    switch (row().given) {
      case BlockKind::each:
        return {reader * signature_->count, signature_->count};
      case BlockKind::counted:
        return tutti::combines(operation()) ? part(to)
                                            : Block{binding_->send_displs[reader], binding_->send_counts[reader]};
      case BlockKind::own:
        return {0, binding_->send_count};
      default:
        return {0, signature_->count};
    }
  }

  /// The block of this rank's output that takes the data of rank `from`. Not for operations that combine.
  [[nodiscard]] Block taken(int from) const {
    const auto giver = static_cast<std::size_t>(from);
    switch (row().taken) {
      case BlockKind::each:
        return {giver * signature_->count, signature_->count};
      case BlockKind::counted:
        return {binding_->recv_displs[giver], binding_->recv_counts[giver]};
      case BlockKind::own:
        return {0, tutti::combines(operation()) ? result_count() : binding_->recv_count};
      default:
        return {0, signature_->count};
    }
  }

  /// The position of the block from rank `from` to rank `to` in the input of `from` and in the output of `to`, if
  /// every rank can compute it.
  [[nodiscard]] std::size_t given_offset(int to) const {
    return is_split() ? static_cast<std::size_t>(to) * signature_->count : 0;
  }
  [[nodiscard]] std::size_t taken_offset(int from) const {
    return row().taken == BlockKind::each ? static_cast<std::size_t>(from) * signature_->count : 0;
  }

  /// For an operation that combines: the range of rank `to`'s result in every rank's input.
  [[nodiscard]] Block part(int to) const;
  /// The number of ranks, from rank 0 on, whose contributions are combined for rank `to`.
  [[nodiscard]] int contributions(int to) const {
    if (row().combined == Combined::all) return size_;
    return row().combined == Combined::up_to_own ? to + 1 : row().combined == Combined::before_own ? to : size_;
  }
  /// Returns true if rank `to` gets a result.
  [[nodiscard]] bool has_result(int to) const {
    return contributions(to) > 0 && (row().root != RootPart::takes || to == root());
  }

  /// The elements of the result that this rank gets of an operation that combines.
  [[nodiscard]] std::size_t result_count() const { return has_result(rank_) ? part(rank_).count : 0; }
  /// The size of the largest block that this rank gives.
  [[nodiscard]] std::size_t largest_given() const;

  /// The end of the last element of this rank's input and output; 0 for a buffer that it does not have.
  [[nodiscard]] std::size_t input_end() const;
  [[nodiscard]] std::size_t output_end() const;
  /// The ranges of its input that a rank reads, and those of its output that it writes, in place as well: body(Block).
  template <typename Body>
  void each_read(const Body& body) const;
  template <typename Body>
  void each_written(const Body& body) const;

  /// Returns true if the output has data already, which stay: a root's block of a scatter in place.
  [[nodiscard]] bool keeps_output() const { return binding_->in_place && row().in_place == InPlaceSide::recv; }

 private:
  [[nodiscard]] const OperationTraits& row() const { return traits_of(operation()); }
  [[nodiscard]] std::size_t all() const { return signature_->count * static_cast<std::size_t>(size_); }

  const Signature* signature_;
  const Binding* binding_;
  int rank_;
  int size_;
};

template <typename Body>
void Shape::each_read(const Body& body) const {
  // In place most inputs lie in the output, which is written; a scatter's holds the blocks of the others too.
  if (binding_->in_place && !keeps_output()) return;
  if (row().given == BlockKind::counted && !tutti::combines(operation()))
    for (std::size_t i = 0; i < binding_->send_counts.size(); ++i)
      body(Block{binding_->send_displs[i], binding_->send_counts[i]});
  else
    body(Block{0, input_end()});
}

template <typename Body>
void Shape::each_written(const Body& body) const {
  if (keeps_output()) return;
  if (row().taken == BlockKind::counted)
    for (std::size_t i = 0; i < binding_->recv_counts.size(); ++i)
      body(Block{binding_->recv_displs[i], binding_->recv_counts[i]});
  else
    body(Block{0, output_end()});
}

}  // namespace tutti::detail
