// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include "data_source.hpp"

namespace tutti::miniapps {

/// The Adult census data (Becker and Kohavi, 1996), which ships with Tutti: does a person earn more than 50,000 a year?
/// 32561 training and 16281 test samples, the given split; held in memory (about 5 MB). Dense features are standardised
/// by the training set; the tables are the categorical columns, bucketised numbers and crossed columns, one index each,
/// numbered by the training set with row 0 for all that is rare or unknown there. Each epoch has its own order.
class Adult : public DataSource {
 public:
  /// Reads adult.data.gz and adult.test.gz from `folder`; empty: where find_data() finds them. Throws tutti::Error (io)
  /// naming the file, and the line of a malformed row.
  explicit Adult(std::uint32_t seed, const std::filesystem::path& folder = {});

  [[nodiscard]] std::size_t dense_features() const override { return dense_features_; }
  [[nodiscard]] const std::vector<std::uint64_t>& table_rows() const override { return rows_; }
  [[nodiscard]] std::uint64_t samples(Split split) const override;  ///< validation is empty
  [[nodiscard]] std::string description() const override;
  void begin_epoch(std::uint64_t epoch) override;
  void read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) override;

 private:
  struct SplitData {
    std::vector<float> dense;  ///< [samples][dense_features]
    std::vector<float> labels;
    std::vector<std::int32_t> indices;  ///< [samples][tables]
    std::vector<std::uint32_t> order;
  };
  std::uint32_t seed_;
  std::size_t dense_features_ = 0;
  std::vector<std::uint64_t> rows_;
  SplitData train_;
  SplitData test_;
};

}  // namespace tutti::miniapps
