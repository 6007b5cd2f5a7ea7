// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/detail/export.hpp>
#include <tutti/kernels/embedding_bag.hpp>

namespace tutti::kernels {

/// A block of rows and columns, numbered in the EmbeddingTable (in the shard, not in the whole table).
struct RowBlock {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::size_t first_column = 0;
  std::size_t columns = 0;
};

/// Copies a block of a table of any type to float32: row r of the block goes to `to + r * stride`. stride is at least
/// block.columns, in elements. Local, blocking, host memory. Throws Error(invalid_argument) for a block outside the
/// table, and Error(invalid_datatype).
TUTTI_EXPORT void read_rows(const EmbeddingTable& table, const RowBlock& block, float* to, std::size_t stride);

/// Copies float32 values into a block of a table, rounded to nearest: the reverse of read_rows. A row of type uint8
/// gets a new scale, from its smallest to its largest value, so its columns outside the block are read and rounded
/// again. Writing the values of read_rows restores float32, bfloat16 and float16 rows bit for bit, and uint8 rows to
/// within half a step of their scale; to restore uint8 rows bit for bit, copy weights and scales. Memory and errors as
/// read_rows.
TUTTI_EXPORT void write_rows(const EmbeddingTable& table, const RowBlock& block, const float* from, std::size_t stride);

}  // namespace tutti::kernels
