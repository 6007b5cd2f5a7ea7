// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/kernels/embedding_backward.hpp>

#include "core/mix_bits.hpp"
#include "kernels/lanes.hpp"

/// Random bits without state: a hash of (seed, step, table, row, column), so that they do not depend on who computes
/// them, or in which order.
namespace tutti::kernels {

using detail::mix_bits;

/// The bits of one row.
class RowNoise {
 public:
  RowNoise(std::uint64_t key, std::size_t first_column)
      : low_(static_cast<std::uint32_t>(key)),
        high_(static_cast<std::uint32_t>(key >> 32)),
        first_column_(static_cast<std::uint32_t>(first_column)) {}

  /// 32 bits for each of the columns d, d + 1, ... of the shard: two rounds of multiplication and shift, with half of
  /// the key before each.
  void load(UintLanes& to, std::size_t d) const {
    constexpr UintLanes count = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    UintLanes x = (count + (first_column_ + static_cast<std::uint32_t>(d))) * 0x9e3779b1U + low_;
    x = (x ^ (x >> 16)) * 0x7feb352dU;
    x = ((x ^ (x >> 15)) + high_) * 0x846ca68bU;
    to = x ^ (x >> 16);
  }

 private:
  std::uint32_t low_;
  std::uint32_t high_;
  std::uint32_t first_column_;
};

/// The bits of one table in one step.
class TableNoise {
 public:
  TableNoise(const RowUpdate& update, const ShardPlace& place)
      : key_(mix_bits(mix_bits(mix_bits(update.seed) ^ update.step) ^ place.table)), place_(place) {}

  [[nodiscard]] RowNoise row(std::uint64_t row) const {
    return {mix_bits(key_ ^ (static_cast<std::uint64_t>(place_.first_row) + row)), place_.first_column};
  }

 private:
  std::uint64_t key_;
  ShardPlace place_;
};

}  // namespace tutti::kernels
