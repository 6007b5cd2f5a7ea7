// SPDX-License-Identifier: BSD-3-Clause
#include "check/receive_order.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>

namespace tutti::detail {
namespace {

constexpr std::uint64_t mark = 9;

TEST(ReceiveOrder, ReceivesThatEndInTheOrderOfTheirPostsTakeTheNextMessage) {
  ReceiveOrder order;
  const auto first = order.post(mark, 1, 5);
  const auto second = order.post(mark, 1, 5);
  EXPECT_EQ(order.end(first, 1, 5), 0);
  EXPECT_EQ(order.end(second, 1, 5), 0);
}

TEST(ReceiveOrder, AReceiveThatEndsEarlierTookALaterMessage) {
  ReceiveOrder order;
  const auto first = order.post(mark, 1, 5);
  const auto second = order.post(mark, 1, 5);
  const auto third = order.post(mark, 1, 5);
  EXPECT_EQ(order.end(third, 1, 5), 2);
  EXPECT_EQ(order.end(first, 1, 5), 0);
  EXPECT_EQ(order.end(second, 1, 5), 0);
}

TEST(ReceiveOrder, OtherSourcesTagsAndCommunicatorsDoNotCount) {
  ReceiveOrder order;
  (void)order.post(mark, 2, 5);
  (void)order.post(mark, 1, 6);
  (void)order.post(mark + 1, 1, 5);
  (void)order.post(mark + 1, MPI_ANY_SOURCE, MPI_ANY_TAG);
  EXPECT_EQ(order.end(order.post(mark, 1, 5), 1, 5), 0);
}

TEST(ReceiveOrder, AnEarlierWildcardLeavesItOpen) {
  ReceiveOrder order;
  (void)order.post(mark, MPI_ANY_SOURCE, 5);
  EXPECT_EQ(order.end(order.post(mark, 1, 5), 1, 5), std::nullopt);
  EXPECT_EQ(order.end(order.post(mark, 1, 6), 1, 6), 0);
}

TEST(ReceiveOrder, AWildcardThatEndsFirstTookTheFirstMessage) {
  ReceiveOrder order;
  const auto any = order.post(mark, MPI_ANY_SOURCE, MPI_ANY_TAG);
  const auto next = order.post(mark, 1, 5);
  EXPECT_EQ(order.end(any, 1, 5), 0);
  EXPECT_EQ(order.end(next, 1, 5), 0);
}

// A blocking receive matches its message at some time, so receives that other threads have posted may be before it.
TEST(ReceiveOrder, AReceiveThatMatchesLateLeavesItOpenBesideAnother) {
  ReceiveOrder order;
  const auto late = order.post(mark, 1, 5, true);
  const auto other = order.post(mark, 1, 5);
  EXPECT_EQ(order.end(late, 1, 5), std::nullopt);
  EXPECT_EQ(order.end(other, 1, 5), 0);
  const auto later = order.post(mark, 1, 5, true);
  EXPECT_EQ(order.end(order.post(mark, 1, 5), 1, 5), std::nullopt);
  EXPECT_EQ(order.end(later, 1, 5), 0);
}

TEST(ReceiveOrder, AMatchThatIsLateComesAfterThoseThatArePosted) {
  ReceiveOrder order;
  const auto posted = order.post(mark, 1, 5);
  EXPECT_EQ(order.end(order.post(mark, 1, 5, true), 1, 5), 1);
  EXPECT_EQ(order.end(posted, 1, 5), 0);
}

TEST(ReceiveOrder, DroppedOnesDoNotCount) {
  ReceiveOrder order;
  const auto dropped = order.post(mark, MPI_ANY_SOURCE, MPI_ANY_TAG);
  const auto next = order.post(mark, 1, 5);
  order.drop(dropped);
  EXPECT_EQ(order.end(next, 1, 5), 0);
  EXPECT_EQ(order.end(next, 1, 5), std::nullopt);
}

}  // namespace
}  // namespace tutti::detail
