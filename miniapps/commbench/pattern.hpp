// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tutti/datatype.hpp>
#include <tutti/reduce_op.hpp>
#include <vector>

#include "shape.hpp"

namespace tutti::commbench {

/// The elements that rank `rank` sends in an iteration, and what their combination must be, exactly. They depend on
/// rank, index and iteration, and repeat over the index with a prime period. Where nothing is reduced they are random
/// bytes; else values for which the result is exact in any order of combination: whole numbers whose sums the type
/// holds, powers of two for products, and for types and numbers of ranks where even that is too much the neutral
/// element at most ranks.
class Pattern {
 public:
  Pattern(Datatype type, std::optional<ReduceKind> op, int ranks) : type_(type), op_(op), ranks_(ranks) {}

  static constexpr std::size_t period = 4093;

  void fill(std::byte* to, std::size_t elements, int rank, std::uint64_t iteration) const;

  /// The index, in the result, of the first element of a slice that is wrong.
  [[nodiscard]] std::optional<std::size_t> first_wrong(const std::byte* result, const ResultSlice& slice,
                                                       std::uint64_t iteration) const;

  /// The operation as it is passed to a call: with this rank's scalar for premul_sum, with a bitwise exclusive or of
  /// opaque bytes for a user's operation.
  [[nodiscard]] static ReduceOp operation(ReduceKind kind, int rank);

  /// The element at an index of a slice, as hexadecimal bytes: for messages.
  [[nodiscard]] std::vector<std::byte> expected(const ResultSlice& slice, std::size_t index,
                                                std::uint64_t iteration) const;

 private:
  [[nodiscard]] std::vector<std::byte> row(int rank, std::size_t offset, std::size_t length,
                                           std::uint64_t iteration) const;
  [[nodiscard]] std::vector<std::byte> combined(const ResultSlice& slice, std::size_t length,
                                                std::uint64_t iteration) const;

  Datatype type_;
  std::optional<ReduceKind> op_;
  int ranks_;
};

}  // namespace tutti::commbench
