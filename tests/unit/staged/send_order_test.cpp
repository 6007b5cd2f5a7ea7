// SPDX-License-Identifier: BSD-3-Clause
#include "call/send_order.hpp"

#include <gtest/gtest.h>

namespace tutti::detail {
namespace {

TEST(SendOrder, SendsToOnePeerLeaveInTheOrderOfCalls) {
  SendOrder order;
  EXPECT_FALSE(order.has_waiting());
  const auto first = order.enter(1);
  const auto second = order.enter(1);
  EXPECT_TRUE(order.is_first(1, first));
  EXPECT_FALSE(order.is_first(1, second));
  order.leave(1, first);
  EXPECT_TRUE(order.is_first(1, second));
  order.leave(1, second);
  EXPECT_FALSE(order.has_waiting());
}

TEST(SendOrder, PeersDoNotWaitForEachOther) {
  SendOrder order;
  const auto to_one = order.enter(1);
  const auto to_two = order.enter(2);
  EXPECT_TRUE(order.is_first(1, to_one));
  EXPECT_TRUE(order.is_first(2, to_two));
}

TEST(SendOrder, OneThatIsGivenUpLetsTheNextGo) {
  SendOrder order;
  const auto first = order.enter(1);
  const auto second = order.enter(1);
  const auto third = order.enter(1);
  order.leave(1, second);
  EXPECT_TRUE(order.is_first(1, first));
  order.leave(1, first);
  EXPECT_TRUE(order.is_first(1, third));
  order.leave(1, first);  // once more: nothing
  EXPECT_TRUE(order.has_waiting());
}

}  // namespace
}  // namespace tutti::detail
