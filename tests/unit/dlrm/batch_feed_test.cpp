// SPDX-License-Identifier: BSD-3-Clause
#include "batch_feed.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <tutti/error.hpp>

#include "common/adult.hpp"
#include "common/locked_source.hpp"
#include "common/random_data.hpp"

namespace dlrm {
namespace {

using tutti::miniapps::Adult;
using tutti::miniapps::Batch;
using tutti::miniapps::BatchPart;
using tutti::miniapps::DataSource;
using tutti::miniapps::LockedSource;
using tutti::miniapps::RandomData;
using tutti::miniapps::RandomDataOptions;
using tutti::miniapps::Split;

/// What a step saw of a batch.
struct Seen {
  std::vector<float> dense;
  std::vector<float> labels;
  std::vector<std::vector<std::int64_t>> tables;
  std::string error;
  bool operator==(const Seen&) const = default;
};

Seen seen(const BatchFeed::Loaded& loaded) {
  Seen s{loaded.batch->dense, loaded.batch->labels, {}, loaded.error};
  for (const auto& bags : loaded.batch->tables) {
    s.tables.push_back(bags.offsets);
    s.tables.push_back(bags.indices);
  }
  return s;
}

std::vector<Seen> batches_of(BatchFeed& feed, const BatchCourse& course) {
  std::vector<Seen> all;
  feed.start(course);
  for (std::uint64_t i = 0; i < course.count; ++i) {
    all.push_back(seen(feed.next()));
  }
  return all;
}

ReaderPart part() { return {{0, 2}, 1, 3}; }

RandomData random_data() {
  RandomDataOptions options;
  options.samples = 75;
  options.table_rows = {100, 7, 50};
  return RandomData(options);
}

/// Writes the epoch and the number of a batch in its labels; batch `bad` fails.
class CountedSource : public DataSource {
 public:
  [[nodiscard]] std::size_t dense_features() const override { return 0; }
  [[nodiscard]] const std::vector<std::uint64_t>& table_rows() const override { return rows_; }
  [[nodiscard]] std::uint64_t samples(Split) const override { return 100; }
  [[nodiscard]] std::string description() const override { return "counted"; }
  void begin_epoch(std::uint64_t epoch) override { epoch_ = epoch; }
  void read(Split, std::size_t, std::uint64_t k, const BatchPart&, Batch& batch) override {
    EXPECT_EQ(readers_++, 0) << "two threads read";
    std::this_thread::sleep_for(delay);
    ++reads;
    readers_ = readers_ - 1;
    if (k == bad) {
      throw tutti::Error(tutti::ErrorCode::io, "line 31, field 5: nonsense");
    }
    if (k == strange) {
      throw 5;  // NOLINT(hicpp-exception-baseclass): what no catch of std::exception sees
    }
    batch.labels = {static_cast<float>(epoch_), static_cast<float>(k)};
    last_reader = std::this_thread::get_id();
  }

  std::uint64_t bad = ~std::uint64_t{0};
  std::uint64_t strange = ~std::uint64_t{0};
  std::chrono::microseconds delay{0};
  std::atomic<int> reads{0};
  std::atomic<std::thread::id> last_reader;

 private:
  std::vector<std::uint64_t> rows_;
  std::uint64_t epoch_ = 0;
  std::atomic<int> readers_{0};
};

TEST(BatchFeed, BatchesDoNotDependOnWhoReadsThem) {
  auto source = random_data();
  auto other = random_data();
  BatchFeed in_step(source, Split::train, 8, part());
  for (const std::uint64_t ahead : {1U, 2U, 7U, 40U}) {
    BatchFeed feed(other, Split::train, 8, part(), {.ahead = ahead});
    for (const BatchCourse& course :
         {BatchCourse{0, 0, 10, 20}, {0, 0, 10, 13}, {1, 3, 10, 7}, {0, 9, 10, 3}, {0, 2, 4, 11}}) {
      EXPECT_EQ(batches_of(feed, course), batches_of(in_step, course)) << ahead << " ahead";
    }
  }
}

/// A checkpoint continues within an epoch, whose order is that of its number.
TEST(BatchFeed, ShufflesOfEpochsAreTheSameAndResumed) {
  Adult source(5);
  Adult other(5);
  BatchFeed in_step(source, Split::train, 4096, part());
  BatchFeed feed(other, Split::train, 4096, part(), {.ahead = 2});
  const auto all = batches_of(feed, {0, 0, 8, 24});
  EXPECT_EQ(all, batches_of(in_step, {0, 0, 8, 24}));
  EXPECT_NE(all[0], all[8]);
  EXPECT_EQ(batches_of(feed, {1, 5, 8, 11}), std::vector<Seen>(all.begin() + 13, all.end()));
}

TEST(BatchFeed, TestsBetweenStepsSeeTheirBatches) {
  Adult source(5);
  LockedSource locked(source);
  Adult other(5);
  for (const std::uint64_t ahead : {0U, 1U, 3U}) {
    BatchFeed train(locked, Split::train, 4096, part(), {.ahead = ahead});
    BatchFeed test(locked, Split::test, 4096, part(), {.ahead = ahead});
    BatchFeed other_train(other, Split::train, 4096, part());
    BatchFeed other_test(other, Split::test, 4096, part());
    const auto tests = batches_of(other_test, {0, 0, 4, 4});
    const BatchCourse course{0, 0, 8, 24};
    const auto steps = batches_of(other_train, course);
    train.start(course);
    for (std::size_t step = 0; step < steps.size(); ++step) {
      EXPECT_EQ(seen(train.next()), steps[step]);
      if (step % 5 == 2) {
        EXPECT_EQ(batches_of(test, {0, 0, 4, 4}), tests);
      }
    }
  }
}

TEST(BatchFeed, ABatchIsKeptWhileTheNextIsInUse) {
  CountedSource source;
  for (const std::uint64_t ahead : {0U, 1U, 2U, 5U}) {
    BatchFeed feed(source, Split::train, 1, {}, {.ahead = ahead});
    feed.start({3, 0, 7, 50});
    const Batch* before = nullptr;
    for (int i = 0; i < 50; ++i) {
      const Batch* batch = feed.next().batch;
      std::this_thread::sleep_for(std::chrono::microseconds(i % 3 == 0 ? 200 : 0));
      EXPECT_EQ(batch->labels, (std::vector<float>{static_cast<float>(3 + i / 7), static_cast<float>(i % 7)}));
      if (before != nullptr) {
        EXPECT_EQ(before->labels[1], static_cast<float>((i - 1) % 7));
      }
      before = batch;
    }
  }
}

TEST(BatchFeed, OnlySoMuchIsReadAhead) {
  CountedSource source;
  BatchFeed feed(source, Split::train, 1, {}, {.ahead = 3});
  feed.start({0, 0, 100, 100});
  (void)feed.next();
  (void)feed.next();
  for (int i = 0; i < 2000 && source.reads < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(source.reads, 5);
  EXPECT_NE(source.last_reader.load(), std::this_thread::get_id());
}

TEST(BatchFeed, WithoutAThreadTheCallerReads) {
  CountedSource source;
  BatchFeed feed(source, Split::train, 1, {});
  feed.start();
  EXPECT_EQ(source.reads, 0);
  (void)feed.next();
  EXPECT_EQ(source.reads, 1);
  EXPECT_EQ(source.last_reader.load(), std::this_thread::get_id());
}

TEST(BatchFeed, FailuresComeWithTheirBatch) {
  CountedSource source;
  source.bad = 2;
  source.strange = 4;
  for (const std::uint64_t ahead : {0U, 1U, 3U}) {
    BatchFeed feed(source, Split::train, 1, {}, {.ahead = ahead});
    const auto all = batches_of(feed, {0, 0, 6, 6});
    for (std::size_t k = 0; k < all.size(); ++k) {
      EXPECT_EQ(all[k].error, k == 2   ? "line 31, field 5: nonsense"
                              : k == 4 ? "a batch could not be read"
                                       : "")
          << "batch " << k << ", " << ahead << " ahead";
    }
  }
}

/// A run may end before what is ahead is asked for, also where that could not be read.
TEST(BatchFeed, StopsInTheMiddle) {
  CountedSource source;
  source.delay = std::chrono::milliseconds(2);
  source.bad = 3;
  for (int taken = 0; taken < 4; ++taken) {
    BatchFeed feed(source, Split::train, 1, {}, {.ahead = 2});
    feed.start({0, 0, 100, 100});
    for (int i = 0; i < taken; ++i) {
      EXPECT_EQ(feed.next().error, "");
    }
    feed.start({1, 5, 100, 9});
    EXPECT_EQ(feed.next().batch->labels, (std::vector<float>{1, 5}));
  }
}

TEST(BatchFeed, EndsWithTheCourse) {
  CountedSource source;
  for (const std::uint64_t ahead : {0U, 2U}) {
    BatchFeed feed(source, Split::train, 50, {}, {.ahead = ahead});
    EXPECT_THROW((void)feed.next(), tutti::Error);
    feed.start();
    (void)feed.next();
    (void)feed.next();
    EXPECT_THROW((void)feed.next(), tutti::Error);
  }
}

TEST(BatchFeed, PreparedBatchesTakeTurns) {
  CountedSource source;
  BatchFeed feed(source, Split::train, 1, {}, {.prepared = 3, .ahead = 2});
  EXPECT_EQ(source.reads, 3);
  const auto all = batches_of(feed, {0, 1, 5, 6});
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].labels[1], static_cast<float>((1 + i) % 5 % 3));
  }
  EXPECT_EQ(source.reads, 3);
}

TEST(BatchFeed, TheThreadShowsWhatItHasRead) {
  auto data = random_data();
  for (const std::uint64_t ahead : {0, 2}) {
    std::atomic<std::size_t> samples{0};
    FeedOptions options{.ahead = ahead, .on_read = [&](const Batch& batch) { samples += batch.count; }};
    BatchFeed feed(data, Split::train, 8, part(), options);
    (void)batches_of(feed, {.per_epoch = feed.batches(), .count = feed.batches()});
    EXPECT_EQ(samples, ahead > 0 ? 75U : 0U);
  }
}

}  // namespace
}  // namespace dlrm
