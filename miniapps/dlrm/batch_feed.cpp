// SPDX-License-Identifier: BSD-3-Clause
#include "batch_feed.hpp"

#include <algorithm>
#include <exception>

namespace dlrm {

namespace mini = tutti::miniapps;

BatchFeed::BatchFeed(mini::DataSource& source, mini::Split split, std::size_t batch_size, const Placement& placement,
                     int rank, std::uint64_t prepared)
    : source_(&source),
      split_(split),
      batch_size_(batch_size),
      tables_(placement.tables_of(rank)),
      rank_(rank),
      ranks_(placement.ranks()),
      prepared_(std::min(prepared, source.batches(split, batch_size))),
      batches_(std::max<std::uint64_t>(prepared_, 1)) {
  for (std::uint64_t k = 0; k < prepared_; ++k) {
    read(k, batches_[k]);
  }
}

void BatchFeed::read(std::uint64_t k, mini::Batch& batch) {
  const auto slice = batch_slice(source_->batch_count(split_, batch_size_, k), rank_, ranks_);
  source_->read(split_, batch_size_, k, slice, tables_, batch);
}

bool BatchFeed::load(std::uint64_t k) {
  error_.clear();
  if (prepared_ > 0) {
    current_ = k % prepared_;
    return true;
  }
  try {
    read(k, batches_[0]);
  } catch (const std::exception& failure) {
    error_ = *failure.what() != '\0' ? failure.what() : "a batch could not be read";
  }
  return error_.empty();
}

}  // namespace dlrm
