// SPDX-License-Identifier: BSD-3-Clause
#include "call/repeats.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "call/plan.hpp"

namespace tutti::detail {
namespace {

CallArguments bcast_of(std::size_t count, CallKind kind = CallKind::blocking) {
  static std::array<float, 1> data{};
  return {Operation::bcast, kind,          {}, Buffer(data.data(), count, DatatypeKind::float32), MemoryKind::detect,
          ReduceKind::sum,  /*its_root=*/0};
}

bool keep(Repeats& repeats, const CallArguments& arguments) {
  if (!repeats.wants(arguments)) return false;
  Repeats::Entry entry;
  entry.arguments = arguments;
  entry.plan = std::make_shared<Plan>();
  repeats.keep(std::move(entry));
  return true;
}

TEST(Repeats, FindsACallByAllItsArguments) {
  Repeats repeats;
  EXPECT_EQ(repeats.find(bcast_of(4)), nullptr);
  ASSERT_TRUE(keep(repeats, bcast_of(4)));
  ASSERT_NE(repeats.find(bcast_of(4)), nullptr);
  EXPECT_EQ(repeats.find(bcast_of(5)), nullptr);
  EXPECT_EQ(repeats.find(bcast_of(4, CallKind::nonblocking)), nullptr);
  repeats.clear();
  EXPECT_EQ(repeats.find(bcast_of(4)), nullptr);
}

TEST(Repeats, KeepsAFewCallsInTurn) {
  Repeats repeats;
  int found = 0;
  for (std::size_t count = 1; count <= 8; ++count) keep(repeats, bcast_of(count));
  for (std::size_t count = 1; count <= 8; ++count) found += repeats.find(bcast_of(count)) != nullptr ? 1 : 0;
  EXPECT_GE(found, 6) << "more than two in one pair of places";
}

TEST(Repeats, SeldomReplacesACall) {
  Repeats repeats;
  constexpr std::size_t calls = 4000;
  std::size_t kept = 0;
  for (std::size_t count = 1; count <= calls; ++count) kept += keep(repeats, bcast_of(count)) ? 1 : 0;
  EXPECT_GT(kept, calls / 16) << "calls of another phase of the program come in";
  EXPECT_LT(kept, calls / 6);
}

TEST(Repeats, LeaveACallThatIsHeld) {
  Repeats repeats;
  ASSERT_TRUE(keep(repeats, bcast_of(4)));
  const Repeats::Entry* entry = repeats.find(bcast_of(4));
  const std::weak_ptr<const Plan> plan = entry->plan;
  {
    const Repeats::Hold hold(repeats);
    EXPECT_FALSE(keep(repeats, bcast_of(5)));
    EXPECT_EQ(repeats.find(bcast_of(4)), entry);
    repeats.clear();
    EXPECT_EQ(repeats.find(bcast_of(4)), nullptr) << "later calls are planned anew";
    EXPECT_FALSE(plan.expired());
  }
  EXPECT_TRUE(plan.expired());
  EXPECT_TRUE(keep(repeats, bcast_of(4)));
}

}  // namespace
}  // namespace tutti::detail
