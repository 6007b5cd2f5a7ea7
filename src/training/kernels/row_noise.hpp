// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/kernels/embedding_backward.hpp>

#include "core/hash.hpp"
#include "training/kernels/row_arithmetic.hpp"

/// Random bits without state: a hash of (seed, step, table, row, column), so that they depend neither on the rank that
/// computes them nor on the order.
namespace tutti::kernels {

using detail::mix_bits;

/// The bits of one row.
class RowNoise {
 public:
  TUTTI_FUNCTION RowNoise(std::uint64_t key, std::size_t first_column)
      : low_(static_cast<std::uint32_t>(key)),
        high_(static_cast<std::uint32_t>(key >> 32)),
        first_column_(static_cast<std::uint32_t>(first_column)) {}

  /// Gives 32 bits for each of the columns d, d + 1, … of the shard, as many as V has values.
  template <typename V>
  [[gnu::always_inline]] TUTTI_FUNCTION void load(typename Arithmetic<V>::Uint& to, std::size_t d) const {
    Arithmetic<V>::count(to);
    to += first_column_ + static_cast<std::uint32_t>(d);
    mix_columns(to, low_, high_);
  }

 private:
  std::uint32_t low_;
  std::uint32_t high_;
  std::uint32_t first_column_;
};

/// The bits of one table in one step.
class TableNoise {
 public:
  TableNoise(const RowUpdate& update, const ShardPlace& place) : TableNoise(step_key(update), place) {}
  TUTTI_FUNCTION TableNoise(std::uint64_t key_of_step, const ShardPlace& place)
      : key_(mix_bits(key_of_step ^ place.table)), place_(place) {}

  /// The key that all tables of a step share.
  [[nodiscard]] static std::uint64_t step_key(const RowUpdate& update) {
    return mix_bits(mix_bits(update.seed) ^ update.step);
  }

  [[nodiscard]] TUTTI_FUNCTION RowNoise row(std::uint64_t row) const {
    if (place_.cached_rows != nullptr) row = place_.cached_rows[row];
    const auto number =
        static_cast<std::uint64_t>(place_.first_row) + row * static_cast<std::uint64_t>(place_.row_step);
    return {mix_bits(key_ ^ number), place_.first_column};
  }

 private:
  std::uint64_t key_;
  ShardPlace place_;
};

}  // namespace tutti::kernels
