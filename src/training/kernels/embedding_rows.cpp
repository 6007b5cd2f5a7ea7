// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/error.hpp>
#include <tutti/kernels/embedding_rows.hpp>
#include <vector>

#include "training/kernels/row_reader.hpp"
#include "training/kernels/row_writer.hpp"

namespace tutti::kernels {

namespace {

void check_block(const std::string& function, const EmbeddingTable& table, const RowBlock& block, std::size_t stride) {
  check_table(function + ": table", table);
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::invalid_argument, function + ": " + what);
  };
  if (block.first_row < 0 || block.rows < 0 || block.first_row > table.rows - block.rows) {
    refuse("block has rows " + std::to_string(block.first_row) + " to " + std::to_string(block.first_row + block.rows) +
           " of a table of " + std::to_string(table.rows));
  }
  if (block.first_column > table.dim || block.columns > table.dim - block.first_column) {
    refuse("block has columns " + std::to_string(block.first_column) + " to " +
           std::to_string(block.first_column + block.columns) + " of a table of " + std::to_string(table.dim));
  }
  if (stride < block.columns) {
    refuse("stride is " + std::to_string(stride) + ", less than the " + std::to_string(block.columns) +
           " columns of the block");
  }
}

/// Writes a whole row at a time, so that a row with a scale gets one for all its columns.
template <typename Stored>
void write_block(const EmbeddingTable& table, const RowBlock& block, const float* from, std::size_t stride) {
  std::vector<float> row(padded(table.dim));
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const std::int64_t at = block.first_row + r;
    if (block.columns < table.dim) read_row<Stored>(table, at, row.data(), table.dim);
    std::copy_n(from + static_cast<std::size_t>(r) * stride, block.columns, row.data() + block.first_column);
    write_row<Stored>(table, static_cast<std::uint64_t>(at), row.data(), table.dim, nullptr);
  }
}

}  // namespace

void read_rows(const EmbeddingTable& table, const RowBlock& block, float* to, std::size_t stride) {
  check_block("read_rows", table, block, stride);
  visit_row(table.type, [&]<typename Stored>(Stored*) {
    for (std::int64_t r = 0; r < block.rows; ++r) {
      const RowReader<Stored> row(table, block.first_row + r);
      for (std::size_t d = 0; d < block.columns; ++d)
        to[static_cast<std::size_t>(r) * stride + d] = row[block.first_column + d];
    }
  });
}

void write_rows(const EmbeddingTable& table, const RowBlock& block, const float* from, std::size_t stride) {
  check_block("write_rows", table, block, stride);
  if (block.columns == 0) return;
  visit_row(table.type, [&]<typename Stored>(Stored*) { write_block<Stored>(table, block, from, stride); });
}

}  // namespace tutti::kernels
