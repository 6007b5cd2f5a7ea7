// SPDX-License-Identifier: BSD-3-Clause
#include "bag_sorter.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tutti::miniapps {

namespace {

// For fewer, clearing and summing the buckets costs more than it saves.
constexpr std::size_t few = 16;

/// Quick where every number is near its place.
void insertion_sort(std::span<std::int64_t> values) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    const std::int64_t value = values[i];
    std::size_t at = i;
    for (; at > 0 && values[at - 1] > value; --at) {
      values[at] = values[at - 1];
    }
    values[at] = value;
  }
}

}  // namespace

std::span<std::int64_t> BagSorter::distribute(std::span<const std::int64_t> indices, std::uint64_t rows) {
  const auto width = [](std::uint64_t number) { return static_cast<int>(std::bit_width(number)); };
  const int shift = std::max(0, width(rows - 1) - width(indices.size()));
  places_.assign(((rows - 1) >> shift) + 2, 0);
  sorted_.resize(indices.size());
  const auto bucket = [shift](std::int64_t index) { return static_cast<std::uint64_t>(index) >> shift; };
  for (const std::int64_t index : indices) {
    ++places_[bucket(index) + 1];
  }
  std::inclusive_scan(places_.begin(), places_.end(), places_.begin());
  for (const std::int64_t index : indices) {
    sorted_[places_[bucket(index)]++] = index;
  }
  return sorted_;
}

void BagSorter::append(std::span<std::int64_t> indices, std::uint64_t rows, std::vector<std::int64_t>& out) {
  const auto sorted = indices.size() > few ? distribute(indices, rows) : indices;
  insertion_sort(sorted);
  out.insert(out.end(), sorted.begin(), std::unique(sorted.begin(), sorted.end()));
}

}  // namespace tutti::miniapps
