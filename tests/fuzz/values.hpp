// SPDX-License-Identifier: BSD-3-Clause
// What each rank contributes to a call, and the exact result. Nothing of the library's arithmetic is used.
#pragma once

#include <cstddef>
#include <span>

#include "fuzz/program.hpp"

namespace tutti::fuzz {

/// A run of elements in a buffer: `count` elements from element `at` are the `index`-th and further ones of block
/// `block` of rank `first`, or, in the result of a reduction, the combination of these of ranks `first` to `last`.
struct Piece {
  std::size_t at = 0;
  std::size_t count = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t block = 0;
  std::size_t index = 0;
};

/// The round of a persistent call, and whether its sums follow the order of the ranks.
struct Turn {
  int round = 0;
  bool in_rank_order = false;
  std::size_t ranks = 1;
};

/// Writes what rank `piece.first` contributes.
void contribute(const Call& call, const Turn& turn, const Piece& piece, std::byte* buffer);

/// Writes the combination.
void combine_exactly(const Call& call, const Turn& turn, const Piece& piece, std::byte* buffer);

/// Whether two elements are the same: bit for bit, but for the padding of pairs and the sign of zero of complex
/// numbers.
[[nodiscard]] bool is_same(Datatype type, const std::byte* a, const std::byte* b);

/// The operation as a call takes it: with this rank's factor, or the user's function.
[[nodiscard]] ReduceOp reduce_op(const Call& call, std::size_t rank);

}  // namespace tutti::fuzz
