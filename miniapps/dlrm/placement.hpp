// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "common/data_source.hpp"

namespace dlrm {

/// The samples of a batch of `batch` that rank `rank` of `ranks` computes: [r*B/R, (r+1)*B/R). Any batch size, also
/// fewer samples than ranks.
[[nodiscard]] tutti::miniapps::SampleRange batch_slice(std::size_t batch, int rank, int ranks);

/// What one table costs its owner.
struct TableCost {
  double bytes = 0;    ///< memory of rows and optimizer state
  double lookups = 0;  ///< mean rows read for a sample
};

/// Which rank owns which table. A pure function of shared facts, so all ranks compute the same one.
class Placement {
 public:
  /// Greedy: tables in order of falling cost, each to the rank with the least so far. The cost of a table is its share
  /// of all bytes plus its share of all lookups. Ranks beyond the number of tables own none.
  Placement(const std::vector<TableCost>& tables, int ranks);

  [[nodiscard]] int owner(std::size_t table) const { return owner_[table]; }
  /// The tables of a rank, ascending.
  [[nodiscard]] const std::vector<std::size_t>& tables_of(int rank) const {
    return tables_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] int ranks() const { return static_cast<int>(tables_.size()); }
  [[nodiscard]] std::size_t tables() const { return owner_.size(); }

 private:
  std::vector<int> owner_;
  std::vector<std::vector<std::size_t>> tables_;
};

}  // namespace dlrm
