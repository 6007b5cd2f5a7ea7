// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "data_source.hpp"
#include "multi_hot_bags.hpp"

namespace tutti::miniapps {

struct MultiHotOptions {
  std::vector<std::size_t> sizes;   ///< indices of a bag, of each table
  std::vector<std::uint64_t> rows;  ///< of each table; ids are taken modulo it; empty: those of the source
  BagRule rule = BagRule::numpy;
  std::uint64_t max_bytes = std::uint64_t{2} << 30U;  ///< that the bags of all tables may take
};

/// A source with one index a table and sample, seen as one with several: each id becomes its fixed bag (MultiHotBags).
/// Samples, order, dense features and labels are those of the source within, which is owned. Memory of a rank: the bags
/// of the tables that it reads, max_bytes at most.
class MultiHot : public DataSource {
 public:
  /// Throws tutti::Error: invalid_argument where sizes or rows do not fit the source, out_of_memory for bags of more
  /// than max_bytes, naming both ways out. The limit counts all tables, so that every rank decides alike.
  MultiHot(std::unique_ptr<DataSource> source, MultiHotOptions options);

  [[nodiscard]] std::size_t dense_features() const override { return source_->dense_features(); }
  [[nodiscard]] const std::vector<std::uint64_t>& table_rows() const override { return bags_.rows(); }
  [[nodiscard]] std::vector<double> mean_lookups() const override;
  [[nodiscard]] std::uint64_t samples(Split split) const override { return source_->samples(split); }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] CategoryValues categories() const override { return source_->categories(); }
  void begin_epoch(std::uint64_t epoch) override { source_->begin_epoch(epoch); }
  void read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) override;

  [[nodiscard]] std::uint64_t kept_bytes() const { return bags_.kept_bytes(); }

 private:
  void expand(std::size_t table, const Batch& batch, TableBags& bags);

  std::unique_ptr<DataSource> source_;
  BagRule rule_;
  MultiHotBags bags_;
  std::vector<std::int64_t> ids_;
};

}  // namespace tutti::miniapps
