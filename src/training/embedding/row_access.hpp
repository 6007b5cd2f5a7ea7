// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tutti/sharding_plan.hpp>
#include <vector>

namespace tutti::detail {

/// Throws Error(invalid_argument), naming table t, if its lookup_shares or frequencies are impossible.
void check_access(const EmbeddingTableConfig& table, std::size_t t);

/// The load that a batch puts on some rows.
struct RowLoad {
  double lookups = 0;   ///< rows read, each as often as it is looked up
  double distinct = 0;  ///< different rows
  RowLoad& operator+=(const RowLoad& other);
  friend RowLoad operator-(const RowLoad& a, const RowLoad& b) {
    return {a.lookups - b.lookups, a.distinct - b.distinct};
  }
};

/// Predicts the load of any rows of a table. Hot rows count where they are. The others are spread evenly over each
/// block of lookup_shares, which counts what its hot rows leave of its share; the sum of their distinct rows is that of
/// the buckets. A row that occurs c times in N lookups is in a batch of n of them with probability 1 - (1 - n / N)^c
/// (rarefaction: Hurlbert, Ecology 52, 1971); if n >= N, with 1 - (1 - c / N)^n.
class RowAccess {
 public:
  /// `lookups`: of the table in a batch.
  RowAccess(const EmbeddingTableConfig& table, double lookups);

  /// `rows` of a step above 1 go to the end of the table.
  [[nodiscard]] RowLoad load(const TableRows& rows) const;

 private:
  /// Rows that are looked up equally often, and their part of all lookups.
  struct Block {
    double rows = 0;
    double part = 0;
  };
  [[nodiscard]] double hit(double part) const;
  void add_hot_rows(const RowFrequencies& frequencies);
  void add_others(const EmbeddingTableConfig& table);
  [[nodiscard]] std::vector<Block> without_hot_rows(const EmbeddingTableConfig& table) const;
  [[nodiscard]] double distinct_of_buckets(const RowFrequencies& frequencies) const;
  [[nodiscard]] RowLoad hot_below(std::int64_t row) const;
  [[nodiscard]] RowLoad hot_of(const TableRows& rows) const;
  [[nodiscard]] RowLoad others_below(std::int64_t row) const;

  std::int64_t rows_;
  double lookups_;
  double all_ = 0;                        ///< lookups that the frequencies count; 0: there are none
  std::vector<std::int64_t> hot_rows_{};  ///< ascending
  std::vector<RowLoad> hot_{};            ///< of each hot row and those before it
  std::vector<RowLoad> others_{};  ///< of the rows that are not hot, below the end of each block of lookup_shares
  mutable std::map<std::int64_t, std::vector<RowLoad>> hot_of_step_{};  ///< of the hot rows in cyclic order, by step
};

}  // namespace tutti::detail
