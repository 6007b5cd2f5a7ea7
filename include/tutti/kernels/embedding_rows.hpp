// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/detail/export.hpp>
#include <tutti/kernels/embedding_bag.hpp>

namespace tutti::kernels {

/// Rows and columns of a table, in the numbers of the EmbeddingTable (of the shard).
struct RowBlock {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::size_t first_column = 0;
  std::size_t columns = 0;
};

/// Copies a block of a table of any type to float32: row r of the block to `to + r * stride` (elements, at least
/// columns). Local, blocking, host memory. Throws Error(invalid_argument) for a block outside the table,
/// Error(invalid_datatype).
TUTTI_EXPORT void read_rows(const EmbeddingTable& table, const RowBlock& block, float* to, std::size_t stride);

/// The reverse of read_rows, rounded to nearest. Rows of type uint8 get a new scale from their least and largest value;
/// of those, columns outside the block are read, and rounded again. Writing what read_rows gave restores float32,
/// bfloat16 and float16 rows to the bit and uint8 rows to within half a step of their scale; a copy of weights and
/// scales restores those to the bit.
TUTTI_EXPORT void write_rows(const EmbeddingTable& table, const RowBlock& block, const float* from, std::size_t stride);

}  // namespace tutti::kernels
