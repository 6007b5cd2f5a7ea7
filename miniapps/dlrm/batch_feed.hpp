// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/data_source.hpp"

namespace dlrm {

/// The samples of a batch of `batch` that rank `rank` of `ranks` computes: [r*B/R, (r+1)*B/R). Any batch size, also
/// fewer samples than ranks.
[[nodiscard]] tutti::miniapps::SampleRange batch_slice(std::size_t batch, int rank, int ranks);

/// What one rank reads of the data.
struct ReaderPart {
  std::vector<std::size_t> tables;  ///< whose indices it needs, ascending
  int rank = 0;
  int ranks = 1;
};

/// Reads what this rank needs of each global batch: its slice of the dense features and labels, and the indices of the
/// tables that it asks for, for all samples. With `prepared` > 0 only so many different batches are made, before
/// training, and used in turn, so that the making of data is not measured. Local.
class BatchFeed {
 public:
  /// One batch, or what went wrong with it on this rank.
  struct Loaded {
    const tutti::miniapps::Batch* batch = nullptr;
    std::string error;  ///< empty for a good one
  };

  BatchFeed(tutti::miniapps::DataSource& source, tutti::miniapps::Split split, std::size_t batch_size, ReaderPart part,
            std::uint64_t prepared = 0);

  [[nodiscard]] std::uint64_t batches() const { return source_->batches(split_, batch_size_); }
  [[nodiscard]] std::uint64_t samples() const { return source_->samples(split_); }
  void begin_epoch(std::uint64_t epoch) { source_->begin_epoch(epoch); }

  /// Reads batch k of the epoch. The batch is valid until the load after the next: a step's and the next step's may be
  /// in use together.
  [[nodiscard]] Loaded load(std::uint64_t k);

 private:
  void read(std::uint64_t k, tutti::miniapps::Batch& batch);

  tutti::miniapps::DataSource* source_;
  tutti::miniapps::Split split_;
  std::size_t batch_size_;
  ReaderPart part_;
  std::vector<tutti::miniapps::Batch> prepared_;
  std::array<tutti::miniapps::Batch, 2> read_;
  std::size_t next_ = 0;
};

}  // namespace dlrm
