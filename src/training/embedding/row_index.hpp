// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/services.hpp"

namespace tutti::detail {

/// Finds the slots of rows by hashing with linear probing; removal moves later entries back (Knuth, The Art of Computer
/// Programming 3, 6.4, algorithm R). Refers to rows[slot], the row of each slot, which the owner keeps.
class RowIndex {
 public:
  static constexpr std::uint32_t none = 0xffffffffU;
  /// Cells for each slot: probes are short as long as some stay empty.
  static constexpr std::size_t cells_of_two_slots = 3;

  [[nodiscard]] static std::size_t bytes(std::size_t slots) { return cells(slots) * sizeof(std::uint32_t); }
  /// Empties the index, for so many slots, below 2^31.
  void reset(std::size_t slots) { cells_.assign(cells(slots), none); }

  [[nodiscard]] std::uint32_t find(std::uint64_t row, const std::uint64_t* rows) const {
    for (std::size_t at = home(row);; at = after(at)) {
      const std::uint32_t slot = cells_[at];
      if (slot == none || rows[slot] == row) return slot;
    }
  }
  /// `row` is not in the index.
  void insert(std::uint64_t row, std::uint32_t slot) {
    std::size_t at = home(row);
    while (cells_[at] != none) at = after(at);
    cells_[at] = slot;
  }
  /// `row` is in the index.
  void erase(std::uint64_t row, const std::uint64_t* rows) {
    std::size_t hole = home(row);
    while (rows[cells_[hole]] != row) hole = after(hole);
    for (std::size_t at = after(hole); cells_[at] != none; at = after(at)) {
      if (distance(home(rows[cells_[at]]), at) < distance(hole, at)) continue;
      cells_[hole] = cells_[at];
      hole = at;
    }
    cells_[hole] = none;
  }

 private:
  static std::size_t cells(std::size_t slots) { return slots * cells_of_two_slots / 2 + 2; }
  [[nodiscard]] std::size_t home(std::uint64_t row) const {
    return static_cast<std::size_t>(((mix_bits(row) >> 32U) * cells_.size()) >> 32U);
  }
  [[nodiscard]] std::size_t after(std::size_t at) const { return at + 1 == cells_.size() ? 0 : at + 1; }
  [[nodiscard]] std::size_t distance(std::size_t from, std::size_t to) const {
    return to >= from ? to - from : to + cells_.size() - from;
  }

  std::vector<std::uint32_t> cells_{};
};

}  // namespace tutti::detail
