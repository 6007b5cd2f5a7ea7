// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "data_source.hpp"

namespace tutti::miniapps {

/// The training samples of one source and the samples of a test file, which are all test samples. The test file's
/// numbers of categories continue those of training. Validation samples: none.
class WithTestFile : public DataSource {
 public:
  /// `train` may be null: then there are no training samples.
  WithTestFile(std::unique_ptr<DataSource> train, std::unique_ptr<DataSource> test)
      : train_(std::move(train)), test_(std::move(test)) {}

  [[nodiscard]] std::size_t dense_features() const override { return test_->dense_features(); }
  [[nodiscard]] const std::vector<std::uint64_t>& table_rows() const override { return test_->table_rows(); }
  [[nodiscard]] std::uint64_t samples(Split split) const override {
    if (split == Split::train) {
      return train_ ? train_->samples(split) : 0;
    }
    return split == Split::test ? test_->samples(split) : 0;
  }
  [[nodiscard]] std::string description() const override {
    return (train_ ? train_->description() + "; tested on " : std::string()) + test_->description();
  }
  [[nodiscard]] CategoryValues categories() const override { return test_->categories(); }
  void begin_epoch(std::uint64_t epoch) override {
    if (train_) {
      train_->begin_epoch(epoch);
    }
  }
  void read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) override {
    begin_read(split, batch_size, k, part, batch);
    (split == Split::train ? *train_ : *test_).read(split, batch_size, k, part, batch);
  }

 private:
  std::unique_ptr<DataSource> train_;
  std::unique_ptr<DataSource> test_;
};

}  // namespace tutti::miniapps
