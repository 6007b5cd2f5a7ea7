// SPDX-License-Identifier: BSD-3-Clause
#include "core/stopwatch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace tutti::detail {
namespace {

TEST(Stopwatch, MedianAndLeast) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  const std::vector<double> times{5, 1, 4};
  std::size_t next = 0;
  EXPECT_EQ(median_of(3, [&] { return times[next++]; }), 4);
  next = 0;
  EXPECT_EQ(least_of(3, [&] { return times[next++]; }), 1);
}

TEST(Stopwatch, AThreadThatDoesNotRunIsAbsent) {
  const AbsenceWatch absence;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(absence.seconds(), 4e-3);
}

TEST(Stopwatch, WorkIsNoAbsence) {
  const Stopwatch watch;
  const AbsenceWatch absence;
  while (watch.seconds() < 5e-3) continue;
  EXPECT_LT(absence.seconds(), watch.seconds());
}

}  // namespace
}  // namespace tutti::detail
