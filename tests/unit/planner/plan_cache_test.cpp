// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "call/known_calls.hpp"

namespace tutti::detail {
namespace {

TEST(PlanCache, MakesAPlanOnce) {
  PlanCache cache;
  int made = 0;
  const auto make = [&made](const Signature& s) {
    ++made;
    auto plan = std::make_shared<Plan>();
    plan->signature = s;
    return std::shared_ptr<const Plan>(plan);
  };
  Signature a;
  a.count = 1;
  Signature b = a;
  b.count = 2;
  const auto first = cache.get(a, make);
  EXPECT_EQ(cache.get(a, make), first);
  EXPECT_NE(cache.get(b, make), first);
  EXPECT_EQ(cache.get(a, make), first);
  EXPECT_EQ(made, 2);
}

TEST(PlanCache, EveryFactOfTheSignatureCounts) {
  PlanCache cache;
  const auto make = [](const Signature& s) {
    auto plan = std::make_shared<Plan>();
    plan->signature = s;
    return std::shared_ptr<const Plan>(plan);
  };
  std::vector<Signature> all(13);
  all[1].operation = Operation::scan;
  all[2].kind = CallKind::persistent;
  all[3].type = Datatype::bytes(3);
  all[4].op = ReduceKind::max;
  all[5].commutative = false;
  all[6].reproducible = true;
  all[7].has_timeout = true;
  all[8].accumulation = Accumulation::backend;
  all[9].root = 1;
  all[10].count = 7;
  all[11].algorithm = "ring";
  all[12].accumulation = Accumulation::exact;
  for (const Signature& s : all) (void)cache.get(s, make);
  EXPECT_EQ(cache.size(), all.size());
  for (const Signature& s : all) EXPECT_EQ(cache.get(s, make)->signature, s);
}

TEST(PlanCache, StaysBounded) {
  PlanCache cache;
  const auto make = [](const Signature&) { return std::make_shared<const Plan>(); };
  Signature s;
  for (s.count = 0; s.count < 20'000; ++s.count) (void)cache.get(s, make);
  EXPECT_LE(cache.size(), 4096U);
}

}  // namespace
}  // namespace tutti::detail
