// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "call/binding.hpp"
#include "call/signature.hpp"

/// How an operation on device memory is cut into pieces that pass through host memory, and what of this rank's buffers
/// is in each. Pure functions of numbers.
namespace tutti::detail::staged {

struct Limits {
  std::size_t least_bytes = std::size_t{1} << 20U;  ///< a shorter operation is one piece
  std::size_t piece_bytes = std::size_t{4} << 20U;  ///< about the length of a piece, all blocks together
  std::size_t most_pieces = 16;                     ///< longer operations have longer pieces
};

/// Pieces of equal counts; the last may be shorter.
struct Cut {
  std::size_t pieces = 1;
  std::size_t count = 0;  ///< Signature::count of a piece
};

/// A function of the signature and the number of ranks alone, so equal on all ranks. Elementwise operations are cut by
/// ranges of the vector, those of uniform blocks by ranges of every block; the v-forms are one piece.
[[nodiscard]] Cut cut(const Signature& signature, int size, const Limits& limits = {});

/// Elements of the vector, or of every block.
struct Range {
  std::size_t offset = 0;
  std::size_t count = 0;
};
[[nodiscard]] Range range_of(const Cut& cut, std::size_t total, std::size_t piece);

/// Rows of bytes between a buffer of the caller's and the host's image of a piece.
struct Copy {
  std::size_t device = 0;  ///< offset in the caller's buffer
  std::size_t host = 0;
  std::size_t width = 0;
  std::size_t rows = 1;
  std::size_t device_pitch = 0;
  std::size_t host_pitch = 0;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// One piece of this rank's part. Only what the operation reads comes to the host, and only what it writes goes back:
/// gaps of the caller's buffers stay as they are.
struct Staging {
  std::vector<Copy> in;
  std::vector<Copy> out;
  std::size_t in_bytes = 0;  ///< of the host's image; 0 where this rank gives nothing
  std::size_t out_bytes = 0;
  bool shared = false;  ///< bcast: one buffer, the output, on either side
  Binding host{};       ///< never in place; its addresses are still null
};
[[nodiscard]] Staging stage(const Signature& signature, const Binding& binding, int rank, int size, Range range);

}  // namespace tutti::detail::staged
