// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <initializer_list>

namespace tutti::schedules {

enum class Operation : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  reduce_scatter_block,
  reduce_scatter,
  scan,
  exscan,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
};

/// Operations with one property, in one word: to ask costs a shift.
class OperationSet {
 public:
  constexpr OperationSet(std::initializer_list<Operation> members) {
    for (const Operation member : members) bits_ |= 1U << static_cast<unsigned>(member);
  }
  [[nodiscard]] constexpr bool has(Operation operation) const {
    return (bits_ >> static_cast<unsigned>(operation) & 1U) != 0;
  }

 private:
  std::uint32_t bits_ = 0;
};

/// Whether the ranks' contributions are combined by a ReduceOp.
[[nodiscard]] constexpr bool combines(Operation operation) {
  using enum Operation;
  return OperationSet{reduce, allreduce, reduce_scatter, reduce_scatter_block, scan, exscan}.has(operation);
}
/// The same for so many ranks: among two, an exclusive scan only hands the first one's data to the second.
[[nodiscard]] constexpr bool combines(Operation operation, int size) {
  return combines(operation) && (operation != Operation::exscan || size > 2);
}

/// Whether one rank gives or gets everything.
[[nodiscard]] constexpr bool has_root(Operation operation) {
  using enum Operation;
  return OperationSet{bcast, reduce, gather, gatherv, scatter, scatterv}.has(operation);
}

/// Whether each taker has a block of its own; in the others all takers take the same.
[[nodiscard]] constexpr bool is_split(Operation operation) {
  using enum Operation;
  return OperationSet{reduce_scatter, reduce_scatter_block, scatter, scatterv, alltoall, alltoallv}.has(operation);
}

/// Whether a call gives the count of one block, of which its longer buffer has one for each rank.
[[nodiscard]] constexpr bool has_equal_blocks(Operation operation) {
  using enum Operation;
  return OperationSet{reduce_scatter_block, gather, scatter, allgather, alltoall}.has(operation);
}

/// Whether a rank may know only its own counts or displacements.
[[nodiscard]] constexpr bool is_varying(Operation operation) {
  using enum Operation;
  return OperationSet{gatherv, scatterv, allgatherv, alltoallv}.has(operation);
}

/// Whether each block has a count of its own.
[[nodiscard]] constexpr bool has_counts(Operation operation) {
  return is_varying(operation) || operation == Operation::reduce_scatter;
}

/// Whether all ranks know all these counts: a call's size is then their sum. In the others no rank but the root does.
[[nodiscard]] constexpr bool has_shared_counts(Operation operation) {
  using enum Operation;
  return OperationSet{reduce_scatter, allgatherv}.has(operation);
}
[[nodiscard]] constexpr bool has_hidden_size(Operation operation) {
  return has_counts(operation) && !has_shared_counts(operation);
}

}  // namespace tutti::schedules
