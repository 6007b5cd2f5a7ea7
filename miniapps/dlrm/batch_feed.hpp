// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/data_source.hpp"
#include "placement.hpp"

namespace dlrm {

/// Reads what this rank needs of each global batch: its slice of the dense features and labels, and the indices of its
/// tables for all samples. With `prepared` > 0 only so many different batches are made, before training, and used in
/// turn, so that the making of data is not measured. Local.
class BatchFeed {
 public:
  BatchFeed(tutti::miniapps::DataSource& source, tutti::miniapps::Split split, std::size_t batch_size,
            const Placement& placement, int rank, std::uint64_t prepared = 0);

  [[nodiscard]] std::uint64_t batches() const { return source_->batches(split_, batch_size_); }
  [[nodiscard]] std::uint64_t samples() const { return source_->samples(split_); }
  void begin_epoch(std::uint64_t epoch) { source_->begin_epoch(epoch); }

  /// Reads batch k of the epoch; false when that fails, and then error() says why.
  bool load(std::uint64_t k);
  [[nodiscard]] const tutti::miniapps::Batch& batch() const { return batches_[current_]; }
  /// Empty after a good load.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void read(std::uint64_t k, tutti::miniapps::Batch& batch);

  tutti::miniapps::DataSource* source_;
  tutti::miniapps::Split split_;
  std::size_t batch_size_;
  std::vector<std::size_t> tables_;
  int rank_;
  int ranks_;
  std::uint64_t prepared_;
  std::vector<tutti::miniapps::Batch> batches_;
  std::size_t current_ = 0;
  std::string error_;
};

}  // namespace dlrm
