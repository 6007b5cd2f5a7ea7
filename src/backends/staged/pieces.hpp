// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "operation/binding.hpp"
#include "operation/signature.hpp"

/// The division of an operation on device memory into pieces that pass through host memory, and the part of this rank's
/// buffers in each piece. Pure functions of numbers.
namespace tutti::detail::staged {

struct Limits {
  std::size_t least_bytes = std::size_t{1} << 20U;  ///< a shorter operation is one piece
  std::size_t piece_bytes = std::size_t{4} << 20U;  ///< approximate size of a piece, all blocks together
  std::size_t most_pieces = 16;                     ///< longer operations have longer pieces
};

/// Pieces of equal count; the last may be shorter.
struct Cut {
  std::size_t pieces = 1;
  std::size_t count = 0;  ///< Signature::count of a piece
};

/// Computes the pieces from the signature and the number of ranks alone, so that they are equal on all ranks.
/// Elementwise operations are divided by ranges of the vector, operations on uniform blocks by ranges of every block;
/// v-forms are one piece.
[[nodiscard]] Cut cut(const Signature& signature, int size, const Limits& limits = {});

/// A range of elements of the vector, or of every block.
struct ElementRange {
  std::size_t offset = 0;
  std::size_t count = 0;
};
[[nodiscard]] ElementRange range_of(const Cut& cut, std::size_t total, std::size_t piece);

/// Rows of bytes that are copied between the caller's buffer and the host's copy of a piece.
struct Copy {
  std::size_t device = 0;  ///< offset in the caller's buffer
  std::size_t host = 0;
  std::size_t width = 0;
  std::size_t rows = 1;
  std::size_t device_pitch = 0;
  std::size_t host_pitch = 0;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// One piece of this rank's part. Only the data that the operation reads is copied to the host, and only the data that
/// it writes is copied back, so gaps in the caller's buffers stay unchanged.
struct Staging {
  std::vector<Copy> in;
  std::vector<Copy> out;
  std::size_t in_bytes = 0;  ///< size of the host's copy; 0 if this rank gives nothing
  std::size_t out_bytes = 0;
  bool shared = false;  ///< bcast: one buffer, the output, for both sides
  Binding host{};       ///< never in place; addresses not yet set
};
[[nodiscard]] Staging stage(const Signature& signature, const Binding& binding, int rank, int size, ElementRange range);

}  // namespace tutti::detail::staged
