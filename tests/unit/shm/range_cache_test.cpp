// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/range_cache.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>
#include <vector>

namespace tutti::detail::shm {
namespace {

constexpr std::size_t page = 4096;

/// Counts what is attached, and gives the owner's addresses as those of this process, so that a test can compare them.
class Driver {
 public:
  RangeCache cache(std::size_t most = RangeCache::most_ranges) {
    return RangeCache({[this](std::uint64_t begin, std::size_t bytes) { return attach(begin, bytes); },
                       [this](std::byte* here) { detach(here); },
                       [this](std::uint64_t address, std::size_t bytes) {
                         return address + bytes <= hole_begin_ || address >= hole_end_;
                       }},
                      page, most);
  }
  [[nodiscard]] int attaches() const { return attaches_; }
  [[nodiscard]] std::size_t attached() const {
    const std::lock_guard lock(mutex_);
    return ranges_.size();
  }
  void make_hole(std::uint64_t begin, std::uint64_t end) {
    hole_begin_ = begin;
    hole_end_ = end;
  }
  void refuse_beyond(std::size_t bytes) { longest_ = bytes; }

 private:
  std::byte* attach(std::uint64_t begin, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(begin % page, 0U);
    EXPECT_EQ(bytes % page, 0U);
    if (bytes > longest_) return nullptr;
    ++attaches_;
    // Ranges of one address can be attached several times: their places here differ by a far multiple of pages.
    const std::uint64_t here = begin + (static_cast<std::uint64_t>(attaches_) << 40U);
    ranges_[here] = bytes;
    return reinterpret_cast<std::byte*>(here);  // NOLINT(performance-no-int-to-ptr)
  }
  void detach(std::byte* here) {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(ranges_.erase(reinterpret_cast<std::uint64_t>(here)), 1U) << "detached twice";
  }
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::size_t> ranges_;
  int attaches_ = 0;
  std::uint64_t hole_begin_ = 0;
  std::uint64_t hole_end_ = 0;
  std::size_t longest_ = ~std::size_t{0};
};

TEST(RangeCache, AttachesWholePagesOnce) {
  Driver driver;
  RangeCache cache = driver.cache();
  const AttachmentPtr first = cache.find(10 * page + 5, 20);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->begin(), 10 * page);
  EXPECT_EQ(first->end(), 11 * page);
  EXPECT_EQ(cache.find(10 * page, page), first);
  EXPECT_EQ(cache.find(11 * page - 1, 1), first);
  EXPECT_EQ(driver.attaches(), 1);
  EXPECT_EQ(first->at(10 * page + 5) - first->at(10 * page), 5);
}

TEST(RangeCache, RangesThatOverlapOrTouchBecomeTheirUnion) {
  Driver driver;
  RangeCache cache = driver.cache();
  EXPECT_NE(cache.find(10 * page, page), nullptr);
  EXPECT_NE(cache.find(20 * page, 2 * page), nullptr);
  EXPECT_NE(cache.find(12 * page, page), nullptr);
  EXPECT_EQ(cache.size(), 3U) << "a page lies between them";
  const AttachmentPtr touching = cache.find(11 * page, 1);
  EXPECT_EQ(touching->begin(), 10 * page);
  EXPECT_EQ(touching->end(), 13 * page);
  EXPECT_EQ(cache.size(), 2U);
  const AttachmentPtr overlapping = cache.find(12 * page, 9 * page);
  EXPECT_EQ(overlapping->begin(), 10 * page);
  EXPECT_EQ(overlapping->end(), 22 * page);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(driver.attached(), 2U) << "the test still holds the one that was replaced";
}

TEST(RangeCache, AHeldRangeStaysAttachedAfterItsReplacement) {
  Driver driver;
  RangeCache cache = driver.cache();
  AttachmentPtr held = cache.find(page, page);
  EXPECT_NE(cache.find(page, 3 * page), held);
  EXPECT_EQ(driver.attached(), 2U);
  held.reset();
  EXPECT_EQ(driver.attached(), 1U);
}

TEST(RangeCache, DropsTheRangeThatWasUsedLeastRecently) {
  Driver driver;
  RangeCache cache = driver.cache(3);
  for (const std::uint64_t at : {10, 20, 30}) EXPECT_NE(cache.find(at * page, 1), nullptr);
  EXPECT_NE(cache.find(10 * page, 1), nullptr);
  EXPECT_NE(cache.find(40 * page, 1), nullptr);
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_EQ(driver.attached(), 3U);
  const int before = driver.attaches();
  for (const std::uint64_t at : {10, 30, 40}) EXPECT_NE(cache.find(at * page, 1), nullptr);
  EXPECT_EQ(driver.attaches(), before);
  EXPECT_NE(cache.find(20 * page, 1), nullptr);
  EXPECT_EQ(driver.attaches(), before + 1) << "the range at page 20 was the oldest";
}

TEST(RangeCache, NeverDropsARangeInUse) {
  Driver driver;
  RangeCache cache = driver.cache(2);
  std::vector<AttachmentPtr> held;
  for (const std::uint64_t at : {10, 20, 30}) held.push_back(cache.find(at * page, 1));
  EXPECT_EQ(cache.size(), 3U) << "more than the maximum, since all are in use";
  const int before = driver.attaches();
  for (std::size_t i = 0; i < held.size(); ++i) EXPECT_EQ(cache.find((10 + 10 * i) * page, 1), held[i]);
  EXPECT_EQ(driver.attaches(), before);
  held.erase(held.begin() + 1);
  EXPECT_NE(cache.find(50 * page, 1), nullptr);
  EXPECT_EQ(cache.find(10 * page, 1), held[0]);
  EXPECT_EQ(cache.find(30 * page, 1), held[1]);
  EXPECT_EQ(driver.attaches(), before + 1);
}

TEST(RangeCache, ComesBackToTheMaximumOnceRangesAreOutOfUse) {
  Driver driver;
  RangeCache cache = driver.cache(2);
  {
    std::vector<AttachmentPtr> held;
    for (std::uint64_t at = 10; at < 20; ++at) held.push_back(cache.find(2 * at * page, 1));
    EXPECT_EQ(cache.size(), 10U);
  }
  EXPECT_NE(cache.find(100 * page, 1), nullptr);
  EXPECT_EQ(cache.size(), 2U);
}

TEST(RangeCache, AFailureGivesNothingAndKeepsTheOthers) {
  Driver driver;
  RangeCache cache = driver.cache();
  const AttachmentPtr known = cache.find(10 * page, 2 * page);
  driver.refuse_beyond(2 * page);
  EXPECT_EQ(cache.find(50 * page, 3 * page), nullptr);
  EXPECT_EQ(cache.find(8 * page, 5 * page), nullptr);
  const AttachmentPtr alone = cache.find(12 * page, page);
  ASSERT_NE(alone, nullptr) << "the union is refused, but not the range";
  EXPECT_EQ(alone->begin(), 12 * page);
  EXPECT_EQ(cache.find(10 * page, 2 * page), known);
  EXPECT_EQ(cache.size(), 1U);
}

TEST(RangeCache, AttachesNothingWhereTheOwnerHasNoMemory) {
  Driver driver;
  RangeCache cache = driver.cache();
  driver.make_hole(11 * page, 12 * page);
  EXPECT_EQ(cache.find(11 * page + 100, 50), nullptr);
  EXPECT_EQ(driver.attaches(), 0);
  EXPECT_NE(cache.find(10 * page, page), nullptr);
  const AttachmentPtr behind = cache.find(12 * page, page);
  EXPECT_NE(behind, nullptr);
  EXPECT_EQ(cache.size(), 2U);
}

TEST(RangeCache, DetachesEverythingAtItsEnd) {
  Driver driver;
  {
    RangeCache cache = driver.cache();
    for (std::uint64_t at = 0; at < 10; ++at) EXPECT_NE(cache.find(3 * at * page, page), nullptr);
    EXPECT_EQ(driver.attached(), 10U);
  }
  EXPECT_EQ(driver.attached(), 0U);
}

/// Compares with the set of pages that have ever been attached, which no eviction diminishes here.
TEST(RangeCache, RandomRangesAreAlwaysHeldWholeAndStayApart) {
  std::mt19937 random(7);  // NOLINT: the same numbers every time
  Driver driver;
  RangeCache cache = driver.cache(1000);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t at = random() % (300 * page);
    const std::size_t bytes = 1 + random() % (3 * page);
    const AttachmentPtr found = cache.find(at, bytes);
    ASSERT_NE(found, nullptr);
    ASSERT_TRUE(found->holds(at, at + bytes));
    ASSERT_EQ(driver.attached(), cache.size());
  }
  EXPECT_EQ(cache.size(), 1U) << "by now the ranges cover all pages";
}

TEST(RangeCache, ThreadsShareIt) {
  Driver driver;
  {
    RangeCache cache = driver.cache(4);
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (unsigned seed = 0; seed < 4; ++seed)
      threads.emplace_back([&cache, seed] {
        std::mt19937 random(seed);  // NOLINT: the same numbers every time
        for (int i = 0; i < 2000; ++i) {
          const std::uint64_t at = random() % (100 * page);
          const AttachmentPtr found = cache.find(at, page);
          ASSERT_TRUE(found != nullptr && found->holds(at, at + page));
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_LE(cache.size(), 4U + threads.size());
  }
  EXPECT_EQ(driver.attached(), 0U);
}

}  // namespace
}  // namespace tutti::detail::shm
