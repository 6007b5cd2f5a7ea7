// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "training/kernels/embedding_scatter.hpp"

/// Sums of squares of row gradients, for row-wise Adagrad with sharded columns.
namespace tutti::kernels {

/// Whether a table has only some of the columns.
inline bool columns_sharded(const EmbeddingTable& table) {
  return table.place.whole_columns != 0 && table.place.whole_columns != table.dim;
}

/// The first place of the rows of a partition among the ascending rows of the whole table.
inline std::size_t first_square(const RowSquares& squares, std::uint64_t first_row) {
  return static_cast<std::size_t>(std::lower_bound(squares.rows.begin(), squares.rows.end(), first_row) -
                                  squares.rows.begin());
}

/// Whether `squares` has exactly the rows of the job that occur. Occurrences are ascending.
inline bool has_rows(const RowSquares& squares, const ScatterJob& job, std::span<const Occurrence> occurrences) {
  std::size_t at = first_square(squares, job.first_row);
  for (std::size_t i = 0; i < occurrences.size(); ++i) {
    const std::uint32_t row = row_of(occurrences[i]);
    if (i > 0 && row == row_of(occurrences[i - 1])) continue;
    if (at >= squares.rows.size() || squares.rows[at] != job.first_row + row) return false;
    ++at;
  }
  return at == first_square(squares, job.last_row);
}

}  // namespace tutti::kernels
