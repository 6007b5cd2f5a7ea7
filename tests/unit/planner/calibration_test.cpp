// SPDX-License-Identifier: BSD-3-Clause
#include "planner/calibration.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace tutti::detail::tuning {
namespace {

const Key here{2, {2}, {2}, "A \"fast\" processor", "MPICH Version: 4.0.2"};

Costs other_costs() {
  Costs costs;
  double value = 1e-9;
  for (const NamedCost& cost : named_costs) costs.*cost.value = value *= 1.5;
  return costs;
}

bool are_equal(const Costs& a, const Costs& b) {
  for (const NamedCost& cost : named_costs)
    if (a.*cost.value != b.*cost.value) return false;
  return true;
}

TEST(Calibration, IsKeptToTheLastBit) {
  const auto found = costs_in(with_costs("", here, other_costs()), here);
  ASSERT_TRUE(found);
  EXPECT_TRUE(are_equal(*found, other_costs()));
}

TEST(Calibration, MachinesAndNumbersOfRanksAreKeptApart) {
  Key more = here;
  more.ranks = 4;
  more.ranks_per_node = {4};
  Key elsewhere = here;
  elsewhere.cpu = "Another";
  std::string text = with_costs("", here, other_costs());
  EXPECT_FALSE(costs_in(text, more));
  EXPECT_FALSE(costs_in(text, elsewhere));
  text = with_costs(text, more, typical_costs);
  ASSERT_TRUE(costs_in(text, here) && costs_in(text, more));
  EXPECT_TRUE(are_equal(*costs_in(text, here), other_costs()));
  EXPECT_TRUE(are_equal(*costs_in(text, more), typical_costs));
  text = with_costs(text, here, typical_costs);
  EXPECT_TRUE(are_equal(*costs_in(text, here), typical_costs)) << "a later measurement replaces an earlier one";
}

TEST(Calibration, DamagedFilesHaveNothing) {
  const std::string good = with_costs("", here, other_costs());
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string("{\"format\": 3}"),
        std::string("{\"format\": \"tutti-calibration\", \"version\": 1, \"machines\": []}"),
        good.substr(0, good.size() / 2)}) {
    EXPECT_FALSE(costs_in(text, here)) << text;
    EXPECT_TRUE(costs_in(with_costs(text, here, other_costs()), here)) << "is replaced: " << text;
  }
}

TEST(Calibration, CostsThatMakeNoSenseAreNotUsed) {
  for (const double value : {0.0, -1e-9, 5.0, std::numeric_limits<double>::infinity()}) {
    Costs costs;
    costs.line = value;
    EXPECT_FALSE(are_sane(costs)) << value;
    EXPECT_FALSE(costs_in(with_costs("", here, costs), here)) << value;
  }
  std::string text = with_costs("", here, other_costs());
  const std::size_t at = text.find("\"line\"");
  EXPECT_FALSE(costs_in(text.replace(at, 6, "\"lime\""), here)) << "a cost is missing";
}

TEST(Calibration, ReportsHaveUnits) {
  const std::string text = text_of(typical_costs);
  for (const NamedCost& cost : named_costs) EXPECT_NE(text.find(cost.name), std::string::npos) << cost.name;
  EXPECT_NE(text.find("line 100 ns"), std::string::npos) << text;
  EXPECT_NE(text.find("slot_write 10 GB/s"), std::string::npos) << text;
}

}  // namespace
}  // namespace tutti::detail::tuning
