// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tutti/detail/export.hpp>
#include <vector>

namespace tutti {

/// How often the rows of a table occur in data, for the planner: the hottest rows one by one, the others in buckets of
/// rows that occur about equally often. Rows that are in neither never occur. Counts of data that are longer than a
/// batch predict its distinct rows without bias; counts of a shorter sample, or any numbers in that ratio, predict too
/// few where most rows are rare.
struct RowFrequencies {
  std::vector<std::int64_t> hot_rows{};  ///< the hottest rows, each once, in any order
  std::vector<double> hot_lookups{};     ///< how often each of them occurs
  std::vector<double> bucket_rows{};     ///< the number of rows in each bucket
  std::vector<double> bucket_lookups{};  ///< how often the rows of each bucket occur together

  [[nodiscard]] bool empty() const { return hot_rows.empty() && bucket_rows.empty(); }
};

/// Counts rows: the `hottest` ones singly, the others in a bucket for each power of two. Local; a pure function.
[[nodiscard]] TUTTI_EXPORT RowFrequencies count_rows(std::vector<std::int64_t> rows, std::size_t hottest = 4096);

}  // namespace tutti
