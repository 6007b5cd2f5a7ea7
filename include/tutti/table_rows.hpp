// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tutti/detail/export.hpp>

namespace tutti {

/// Some rows of a table: begin, begin + step, and so on below end. They are a block if the step is 1, and one rank's
/// part in cyclic order over R ranks if it is R. Row i of them is at place i in memory.
struct TableRows {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;

  [[nodiscard]] std::int64_t size() const { return begin < end ? (end - begin - 1) / step + 1 : 0; }
  /// The row at a place.
  [[nodiscard]] std::int64_t row(std::int64_t place) const { return begin + place * step; }
  /// The number of these rows below `row`: its place if it is one of them, else that of the next one.
  [[nodiscard]] std::int64_t below(std::int64_t row) const {
    return row <= begin ? 0 : std::min((row - begin - 1) / step + 1, size());
  }
  [[nodiscard]] bool has(std::int64_t row) const { return begin <= row && row < end && (row - begin) % step == 0; }
  friend bool operator==(const TableRows&, const TableRows&) = default;
};

/// The rows that are in both, if there are any.
[[nodiscard]] TUTTI_EXPORT std::optional<TableRows> common_rows(const TableRows& a, const TableRows& b);

}  // namespace tutti
