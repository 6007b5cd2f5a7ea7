// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the data-moving collectives share.
#pragma once

#include "support/exercise.hpp"

namespace tutti::test {

using MovementTypes = ::testing::Types<std::uint8_t, float16_t, float, double, Float64Int32>;

/// A value from small whole numbers, also for pairs.
template <typename T>
T cell(int rank, std::size_t block, std::size_t index, int iteration) {
  if constexpr (IsPair<T>::value) {
    T pair;
    std::memset(&pair, 0, sizeof pair);
    pair.value = movement<double>(rank, block, index, iteration);
    pair.index = movement<std::int32_t>(rank, block, index, iteration + 1);
    return pair;
  } else {
    return movement<T>(rank, block, index, iteration);
  }
}

/// Block `block` of rank `rank`'s buffer.
template <typename T>
std::vector<T> block_of(int rank, std::size_t block, std::size_t count, int iteration) {
  std::vector<T> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = cell<T>(rank, block, i, iteration);
  return data;
}

template <typename T>
void place(std::vector<T>& whole, std::size_t offset, const std::vector<T>& part) {
  std::copy(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(offset));
}

/// Uneven blocks with gaps between them; some are empty.
struct Uneven {
  std::vector<std::size_t> counts, displs;
  std::size_t extent = 0;
};

inline Uneven uneven(const std::vector<std::size_t>& counts) {
  Uneven u;
  u.counts = counts;
  for (const std::size_t n : counts) {
    u.displs.push_back(u.extent + 1);
    u.extent += n + 2;
  }
  return u;
}

inline std::vector<std::size_t> uneven_counts(std::size_t count, int size, int salt) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(size));
  for (std::size_t r = 0; r < counts.size(); ++r)
    counts[r] =
        (r + static_cast<std::size_t>(salt)) % 3 == 1 ? 0 : count / (1 + (r + static_cast<std::size_t>(salt)) % 4);
  return counts;
}

/// What a run gives in a buffer that was filled with zeros.
template <typename T>
std::vector<T> zeros(std::size_t count) {
  std::vector<T> data(count);
  if (count > 0) std::memset(static_cast<void*>(data.data()), 0, count * sizeof(T));
  return data;
}

}  // namespace tutti::test
