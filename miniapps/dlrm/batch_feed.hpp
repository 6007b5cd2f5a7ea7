// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/ahead_thread.hpp"
#include "common/data_source.hpp"

namespace dlrm {

/// The samples of a batch of `batch` that rank `rank` of `ranks` computes: [r*B/R, (r+1)*B/R). Any batch size, also
/// fewer samples than ranks.
[[nodiscard]] tutti::miniapps::SampleRange batch_slice(std::size_t batch, int rank, int ranks);

/// What one rank reads of the data.
struct ReaderPart {
  std::vector<std::size_t> tables;  ///< whose bags it reads, ascending
  int rank = 0;
  int ranks = 1;
  tutti::miniapps::BagSamples bags = tutti::miniapps::BagSamples::all;
};

/// When the batches of a feed are made.
struct FeedOptions {
  std::uint64_t prepared = 0;  ///< above 0: only so many different batches, before training, used in turn, so that the
                               ///< making of data is not measured
  std::uint64_t ahead = 0;     ///< above 0: by a thread, up to so many before they are asked for
  /// Called by that thread with each batch that it has read.
  std::function<void(const tutti::miniapps::Batch&)> on_read{};
};

/// The batches that are asked for one after the other; behind the last of an epoch comes the first of the next.
struct BatchCourse {
  std::uint64_t epoch = 0;      ///< of the first batch
  std::uint64_t batch = 0;      ///< the first one, within its epoch
  std::uint64_t per_epoch = 0;  ///< batches of each epoch
  std::uint64_t count = 0;      ///< batches in all
};

/// Reads what this rank needs of each global batch: its slice of the dense features and labels, and the bags of the
/// tables that it asks for, of its slice or of all samples. The batches are the same, whoever reads them, and when.
/// Local.
class BatchFeed {
 public:
  /// One batch, or what went wrong with it on this rank.
  struct Loaded {
    const tutti::miniapps::Batch* batch = nullptr;
    std::string error;  ///< empty for a good one
  };

  /// `source` outlives the feed. A source of several feeds is a LockedSource where any of them reads ahead.
  BatchFeed(tutti::miniapps::DataSource& source, tutti::miniapps::Split split, std::size_t batch_size, ReaderPart part,
            FeedOptions options = {});
  BatchFeed(const BatchFeed&) = delete;
  BatchFeed& operator=(const BatchFeed&) = delete;

  [[nodiscard]] std::uint64_t batches() const { return source_->batches(split_, batch_size_); }
  [[nodiscard]] std::uint64_t samples() const { return source_->samples(split_); }

  /// Says what next() gives. What was read ahead for the course before is dropped. A feed of training samples also
  /// fixes their order in each epoch.
  void start(const BatchCourse& course);
  /// All batches of one epoch, once.
  void start() { start({.per_epoch = batches(), .count = batches()}); }

  /// The next batch of the course. It is valid until the call after the next: a step's and the next step's may be in
  /// use together. Throws tutti::Error (invalid_argument) where the course has ended.
  [[nodiscard]] Loaded next();

 private:
  struct Slot {
    tutti::miniapps::Batch batch;
    std::string error;
  };
  void read(std::uint64_t k, tutti::miniapps::Batch& batch);
  /// Makes batch `number` of the course; in the thread if there is one.
  void fill(std::uint64_t number) noexcept;
  [[nodiscard]] std::uint64_t place(std::uint64_t number) const { return course_.batch + number; }

  tutti::miniapps::DataSource* source_;
  tutti::miniapps::Split split_;
  std::size_t batch_size_;
  ReaderPart part_;
  std::uint64_t ahead_;
  std::function<void(const tutti::miniapps::Batch&)> on_read_;
  std::vector<tutti::miniapps::Batch> prepared_;
  BatchCourse course_;
  std::uint64_t taken_ = 0;
  std::vector<Slot> slots_;                               ///< two in use, the others read ahead
  std::unique_ptr<tutti::miniapps::AheadThread> thread_;  ///< the last member: it uses the others
};

}  // namespace dlrm
