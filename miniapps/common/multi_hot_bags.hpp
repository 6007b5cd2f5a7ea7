// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "numpy_random.hpp"

namespace tutti::miniapps {

/// Where the indices of a bag after the first come from.
enum class BagRule {
  numpy,   ///< MLPerf's: numpy's generator, all of a table's bags drawn once and kept
  counter  ///< a function of table, id and place; uniform too, but not MLPerf's numbers; keeps nothing
};

/// "numpy" or "counter"; throws tutti::Error (invalid_argument) for another name.
[[nodiscard]] BagRule bag_rule(const std::string& name);

/// Bytes that the bags of all tables take by BagRule::numpy: 4 x rows x (size - 1), summed.
[[nodiscard]] std::uint64_t bag_bytes(std::span<const std::uint64_t> rows, std::span<const std::size_t> sizes);

/// The bag of every id of every table: the id itself, then size - 1 ids uniform over the table's rows, repetitions
/// allowed, the same for all samples, epochs and ranks. By BagRule::numpy these are MLPerf's (DLRM of training v3): one
/// generator of seed 0 draws randint(0, rows) for all ids of the first table, size - 1 of each, then of the second and
/// so on. Memory: 4 x rows x (size - 1) bytes of the tables that are asked for; tables before them are drawn over
/// without keeping, once. By BagRule::counter index j of id i is bits(i x (size - 1) + j - 1) x rows / 2^64 of the
/// table's stream of CounterRandom. Local; one thread at a time.
class MultiHotBags {
 public:
  /// `rows` and `sizes` are of equal length and positive. Throws tutti::Error (invalid_argument), BagRule::numpy also
  /// for more than 2^31 rows.
  MultiHotBags(std::vector<std::uint64_t> rows, std::vector<std::size_t> sizes, BagRule rule, std::uint32_t seed = 0);

  [[nodiscard]] const std::vector<std::uint64_t>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<std::size_t>& sizes() const { return sizes_; }
  /// Writes the bags of `ids`, each below rows()[table], one after the other: ids.size() x sizes()[table] indices.
  void expand(std::size_t table, std::span<const std::int64_t> ids, std::span<std::int64_t> bags);
  /// Bytes that are kept now.
  [[nodiscard]] std::uint64_t kept_bytes() const;

 private:
  [[nodiscard]] std::uint64_t drawn(std::size_t table) const { return rows_[table] * (sizes_[table] - 1); }
  const std::vector<std::int32_t>& kept(std::size_t table);

  std::vector<std::uint64_t> rows_;
  std::vector<std::size_t> sizes_;
  BagRule rule_;
  std::uint32_t seed_;
  std::vector<NumpyRandom> starts_;  ///< the generator before table 0, 1, ..., as far as it was drawn
  std::vector<std::vector<std::int32_t>> kept_;
};

}  // namespace tutti::miniapps
