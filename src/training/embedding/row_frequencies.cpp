// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <tutti/row_frequencies.hpp>
#include <utility>

namespace tutti {

namespace {

using Counted = std::pair<std::size_t, std::int64_t>;  ///< how often a row occurs, and the row

std::vector<Counted> counted(std::vector<std::int64_t> rows) {
  std::sort(rows.begin(), rows.end());
  std::vector<Counted> found;
  for (auto at = rows.begin(); at != rows.end();) {
    const auto next = std::upper_bound(at, rows.end(), *at);
    found.emplace_back(static_cast<std::size_t>(next - at), *at);
    at = next;
  }
  return found;
}

void add_to_bucket(RowFrequencies& frequencies, std::size_t count) {
  const auto bucket = static_cast<std::size_t>(std::bit_width(count)) - 1;
  if (frequencies.bucket_rows.size() <= bucket) {
    frequencies.bucket_rows.resize(bucket + 1, 0);
    frequencies.bucket_lookups.resize(bucket + 1, 0);
  }
  frequencies.bucket_rows[bucket] += 1;
  frequencies.bucket_lookups[bucket] += static_cast<double>(count);
}

}  // namespace

RowFrequencies count_rows(std::vector<std::int64_t> rows, std::size_t hottest) {
  std::vector<Counted> found = counted(std::move(rows));
  const auto hot = found.begin() + static_cast<std::ptrdiff_t>(std::min(hottest, found.size()));
  std::partial_sort(found.begin(), hot, found.end(), [](const Counted& a, const Counted& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  RowFrequencies frequencies;
  for (auto at = found.begin(); at != hot; ++at) {
    frequencies.hot_rows.push_back(at->second);
    frequencies.hot_lookups.push_back(static_cast<double>(at->first));
  }
  std::for_each(hot, found.end(), [&](const Counted& other) { add_to_bucket(frequencies, other.first); });
  return frequencies;
}

}  // namespace tutti
