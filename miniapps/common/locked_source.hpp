// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>

#include "data_source.hpp"

namespace tutti::miniapps {

/// A source that several threads may read: one reads, the others wait. The order of the training samples is one for
/// all of them.
class LockedSource final : public DataSource {
 public:
  /// `source` outlives this, and only this reads it.
  explicit LockedSource(DataSource& source) : source_(&source) {}

  [[nodiscard]] std::size_t dense_features() const override { return source_->dense_features(); }
  [[nodiscard]] const std::vector<std::uint64_t>& table_rows() const override { return source_->table_rows(); }
  [[nodiscard]] std::vector<double> mean_lookups() const override { return source_->mean_lookups(); }
  [[nodiscard]] std::uint64_t samples(Split split) const override { return source_->samples(split); }
  [[nodiscard]] std::string description() const override { return source_->description(); }
  [[nodiscard]] CategoryValues categories() const override { return source_->categories(); }
  void begin_epoch(std::uint64_t epoch) override {
    const std::lock_guard lock(mutex_);
    source_->begin_epoch(epoch);
  }
  void read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) override {
    const std::lock_guard lock(mutex_);
    source_->read(split, batch_size, k, part, batch);
  }

 private:
  DataSource* source_;
  std::mutex mutex_;
};

}  // namespace tutti::miniapps
