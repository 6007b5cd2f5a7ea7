// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/data_source.hpp"

namespace dlrm {

/// Quick random batches for measurements: dense features uniform in [0, 1), labels 0 and 1, and for each table
/// exactly so many indices a bag, uniform over the rows, in no order, with duplicates. Not the reference's numbers, but
/// the same on any number of ranks. There are no test samples.
class BenchData : public tutti::miniapps::DataSource {
 public:
  BenchData(std::uint64_t samples, std::size_t dense_features, std::vector<std::uint64_t> table_rows,
            std::vector<std::size_t> indices_per_lookup, std::uint32_t seed);

  [[nodiscard]] std::size_t dense_features() const override { return dense_features_; }
  [[nodiscard]] const std::vector<std::uint64_t>& table_rows() const override { return rows_; }
  [[nodiscard]] std::vector<double> mean_lookups() const override;
  [[nodiscard]] std::uint64_t samples(tutti::miniapps::Split split) const override;
  [[nodiscard]] std::string description() const override;
  void read(tutti::miniapps::Split split, std::size_t batch_size, std::uint64_t k,
            const tutti::miniapps::BatchPart& part, tutti::miniapps::Batch& batch) override;

 private:
  void fill_table(std::size_t table, std::uint64_t first_sample, std::size_t count, tutti::miniapps::TableBags& bags);

  std::uint64_t samples_;
  std::size_t dense_features_;
  std::vector<std::uint64_t> rows_;
  std::vector<std::size_t> indices_;  ///< of a bag, by table
  std::uint64_t seed_;
};

}  // namespace dlrm
