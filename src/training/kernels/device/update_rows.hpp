// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/kernels/launch.hpp>

#include "training/kernels/device/occurrences.hpp"
#include "training/kernels/device/tables.hpp"
#include "training/kernels/device/winners.hpp"
#include "training/kernels/row_arithmetic.hpp"

/// Updates rows from their sorted occurrences. A warp adds the gradients of a row, and changes it. The occurrences of a
/// row that occurs often, as all rows of a small table do, are cut into parts: a warp adds those of a part, and in a
/// further launch one adds the sums of the parts and changes the row. The order of all sums is that of the host's.
namespace tutti::kernels::device {

/// Occurrences of one row.
struct RowPart {
  std::uint32_t begin;
  std::uint32_t end;
};

struct OftenRow {
  std::uint32_t first;       ///< its first occurrence
  std::uint32_t first_part;  ///< its parts are neighbours
  std::uint32_t parts;
};

/// The rows of a launch that occur often, in any order.
struct OftenRows {
  static constexpr std::size_t counts_of_group = 2;
  std::uint32_t* counts;  ///< of rows and of parts, at first 0
  OftenRow* rows;
  RowPart* parts;
  float* sums;  ///< [part][column]
};

/// A row with more occurrences is cut into parts.
inline constexpr std::size_t warp_occurrences = 32;
/// The most rows that can occur often, and the most parts of them, for `count` occurrences.
[[nodiscard]] constexpr std::size_t most_often_rows(std::size_t count) { return count / (warp_occurrences + 1); }
[[nodiscard]] constexpr std::size_t most_row_parts(std::size_t count) {
  return count / row_part + most_often_rows(count);
}

/// The arguments that all tables of a launch share.
struct UpdateJob {
  const TableJob* jobs;
  std::size_t tables;  ///< tables of the group, neighbours in `jobs`
  std::size_t bags;
  Occurrences occurrences;
  UpdateRule rule;
  std::uint64_t noise_key;  ///< TableNoise::step_key
  bool stochastic;
  bool finds_squares;  ///< only writes TableJob::squares (row-wise Adagrad)
  const IndexStatus* guard;
  Winners winners;
  OftenRows often;
};

/// Throws not_supported where an update needs a whole row in the scratch memory of a warp, and that is too short.
void check_row_length(const char* function, const TableList& list, RowOptimizer optimizer);

/// Launches the update of the rows of one group, in stream order.
void update_rows(const UpdateJob& update, const TableGroup& group, RowOptimizer optimizer, StreamHandle stream);

}  // namespace tutti::kernels::device
