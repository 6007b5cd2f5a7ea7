// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::miniapps {

/// Puts the indices of a bag in order, each once. Linear in the indices where they are spread over the rows: a bucket
/// of equal rows then holds one or two of them. Keeps its buffers; local.
class BagSorter {
 public:
  /// Appends to `out` the different numbers of `indices`, all below `rows`, ascending. The order of `indices` is lost.
  void append(std::span<std::int64_t> indices, std::uint64_t rows, std::vector<std::int64_t>& out);

 private:
  /// `indices` in ascending order of their upper bits.
  std::span<std::int64_t> distribute(std::span<const std::int64_t> indices, std::uint64_t rows);

  std::vector<std::uint32_t> places_;  ///< of the next index of each bucket
  std::vector<std::int64_t> sorted_;
};

}  // namespace tutti::miniapps
