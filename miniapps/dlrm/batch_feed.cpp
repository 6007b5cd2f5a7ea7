// SPDX-License-Identifier: BSD-3-Clause
#include "batch_feed.hpp"

#include <algorithm>
#include <exception>
#include <tutti/embedding_collection.hpp>
#include <tutti/error.hpp>

namespace dlrm {

namespace mini = tutti::miniapps;

namespace {

constexpr std::uint64_t in_use = 2;
constexpr const char* unknown = "a batch could not be read";

}  // namespace

mini::SampleRange batch_slice(std::size_t batch, int rank, int ranks) {
  const auto slice = tutti::sample_slice(batch, rank, ranks);
  return {slice.begin, slice.end};
}

BatchFeed::BatchFeed(mini::DataSource& source, mini::Split split, std::size_t batch_size, ReaderPart part,
                     FeedOptions options)
    : source_(&source),
      split_(split),
      batch_size_(batch_size),
      part_(std::move(part)),
      ahead_(options.ahead),
      on_read_(std::move(options.on_read)),
      prepared_(std::min(options.prepared, source.batches(split, batch_size))),
      slots_(in_use + options.ahead) {
  for (std::uint64_t k = 0; k < prepared_.size(); ++k) {
    read(k, prepared_[k]);
  }
}

void BatchFeed::start(const BatchCourse& course) {
  thread_.reset();
  course_ = course;
  if (course_.batch >= course_.per_epoch) {
    course_.batch = 0;
    ++course_.epoch;
  }
  taken_ = 0;
  if (ahead_ > 0 && prepared_.empty() && course_.count > 0) {
    thread_ = std::make_unique<mini::AheadThread>(course_.count, ahead_, [this](std::uint64_t n) { fill(n); });
  }
}

void BatchFeed::read(std::uint64_t k, mini::Batch& batch) {
  const auto slice = batch_slice(source_->batch_count(split_, batch_size_, k), part_.rank, part_.ranks);
  source_->read(split_, batch_size_, k, {slice, part_.tables, part_.bags}, batch);
}

void BatchFeed::fill(std::uint64_t number) noexcept {
  Slot& slot = slots_[number % slots_.size()];
  const std::uint64_t k = place(number) % course_.per_epoch;
  slot.error.clear();
  try {
    if (split_ == mini::Split::train && (number == 0 || k == 0)) {
      source_->begin_epoch(course_.epoch + place(number) / course_.per_epoch);
    }
    read(k, slot.batch);
    if (ahead_ > 0 && on_read_) {
      on_read_(slot.batch);
    }
  } catch (const std::exception& failure) {
    slot.error = *failure.what() != '\0' ? failure.what() : unknown;
  } catch (...) {
    slot.error = unknown;
  }
}

BatchFeed::Loaded BatchFeed::next() {
  if (taken_ == course_.count) {
    throw tutti::Error(tutti::ErrorCode::invalid_argument,
                       "the feed has given all " + std::to_string(course_.count) + " batches; start it anew");
  }
  const std::uint64_t number = taken_++;
  if (!prepared_.empty()) {
    return {&prepared_[place(number) % course_.per_epoch % prepared_.size()], {}};
  }
  thread_ ? thread_->take() : fill(number);
  const Slot& slot = slots_[number % slots_.size()];
  return {&slot.batch, slot.error};
}

}  // namespace dlrm
