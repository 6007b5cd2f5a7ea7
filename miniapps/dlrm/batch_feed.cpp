// SPDX-License-Identifier: BSD-3-Clause
#include "batch_feed.hpp"

#include <algorithm>
#include <exception>
#include <tutti/embedding_collection.hpp>

namespace dlrm {

namespace mini = tutti::miniapps;

mini::SampleRange batch_slice(std::size_t batch, int rank, int ranks) {
  const auto slice = tutti::sample_slice(batch, rank, ranks);
  return {slice.begin, slice.end};
}

BatchFeed::BatchFeed(mini::DataSource& source, mini::Split split, std::size_t batch_size, ReaderPart part,
                     std::uint64_t prepared)
    : source_(&source),
      split_(split),
      batch_size_(batch_size),
      part_(std::move(part)),
      prepared_(std::min(prepared, source.batches(split, batch_size))) {
  for (std::uint64_t k = 0; k < prepared_.size(); ++k) {
    read(k, prepared_[k]);
  }
}

void BatchFeed::read(std::uint64_t k, mini::Batch& batch) {
  const auto slice = batch_slice(source_->batch_count(split_, batch_size_, k), part_.rank, part_.ranks);
  source_->read(split_, batch_size_, k, slice, part_.tables, batch);
}

BatchFeed::Loaded BatchFeed::load(std::uint64_t k) {
  if (!prepared_.empty()) {
    return {&prepared_[k % prepared_.size()], {}};
  }
  mini::Batch& batch = read_[next_];
  next_ = 1 - next_;
  try {
    read(k, batch);
  } catch (const std::exception& failure) {
    return {&batch, *failure.what() != '\0' ? failure.what() : "a batch could not be read"};
  }
  return {&batch, {}};
}

}  // namespace dlrm
