// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <unordered_map>

#include "common/counter_random.hpp"
#include "common/criteo_line.hpp"
#include "common/data/id_table.hpp"
#include "common/zipf.hpp"

namespace {

using namespace tutti::miniapps;

TEST(IdTable, CountsAsAMapDoes) {
  for (const bool dense : {false, true}) {
    IdTable table(dense);
    std::unordered_map<std::uint32_t, std::uint32_t> want;
    for (std::uint32_t i = 0; i < 50'000; ++i) {
      const auto id = static_cast<std::uint32_t>(mix_counter(i) % 20'000) - 1;  // the largest number too
      ++table.find_or_add(id).count;
      ++want[id];
    }
    EXPECT_EQ(table.size(), want.size());
    for (const auto& [id, count] : want) {
      ASSERT_EQ(table.at(id).count, count) << id;
    }
    EXPECT_EQ(table.at(30'000).count, 0U);
    table.clear();
    EXPECT_EQ(table.at(5).count, 0U);
    EXPECT_EQ(table.size(), 0U);
  }
}

TEST(IdTable, TakesAtMostSeventeenBytesAnId) {
  for (const std::uint32_t ranks : {1U, 3U}) {
    IdTable table(true, ranks);
    double sum = 0;
    std::size_t steps = 0;
    for (std::uint32_t id = 0; table.size() < 100'000; ++id) {
      if ((std::uint64_t{id_hash(id)} * ranks) >> 32U != 0) {
        continue;
      }
      ++table.find_or_add(id).count;
      if (table.size() > 1000) {
        const double bytes = static_cast<double>(table.bytes()) / static_cast<double>(table.size());
        EXPECT_LE(bytes, 17.3);
        sum += bytes;
        ++steps;
      }
    }
    EXPECT_LE(sum / static_cast<double>(steps), 16);
  }
}

TEST(IdTable, WithRoomDoesNotGrow) {
  IdTable table(true);
  table.reserve(1000);
  const std::size_t bytes = table.bytes();
  EXPECT_LE(bytes, 14'000U);
  for (std::uint32_t id = 0; id < 1000; ++id) {
    table.find_or_add(id).count = 1;
  }
  EXPECT_EQ(table.bytes(), bytes);
}

std::string line_with(std::size_t field, const std::string& text) {
  std::string line;
  for (std::size_t i = 0; i < 40; ++i) {
    line += (i > 0 ? "\t" : "") + (i == field ? text : i == 0 ? "1" : "7");
  }
  return line;
}

CriteoLine good_line(const std::string& text) {
  CriteoLine line;
  CriteoLineFault fault;
  EXPECT_TRUE(parse_criteo_line(text, line, fault)) << fault.field << ": " << fault.what;
  return line;
}

CriteoLineFault fault_of(const std::string& text) {
  CriteoLine line;
  CriteoLineFault fault;
  EXPECT_FALSE(parse_criteo_line(text, line, fault)) << text;
  return fault;
}

TEST(CriteoLine, ReadsTheEndsOfTheRanges) {
  EXPECT_EQ(good_line(line_with(5, "2147483647")).dense[4], 2147483647);
  EXPECT_EQ(good_line(line_with(5, "-2147483648")).dense[4], -2147483647 - 1);
  EXPECT_EQ(good_line(line_with(5, "")).dense[4], 0);
  EXPECT_EQ(good_line(line_with(5, "0012")).dense[4], 12);
  EXPECT_EQ(good_line(line_with(14, "FFFFffff")).hashes[0], 0xffffffffU);
  EXPECT_EQ(good_line(line_with(39, "") + "\r").hashes[25], 0U);
  EXPECT_EQ(good_line(line_with(39, "0000000000ab")).hashes[25], 0xabU);
  EXPECT_EQ(criteo_record(good_line(line_with(5, "-3"))).dense[4], 0);
}

TEST(CriteoLine, NamesTheFieldThatIsWrong) {
  for (const char* text :
       {"2147483648", "-2147483649", "-", "1.5", " 1", "+1", "0x1", "99999999999999999999999", "--1", "1-"}) {
    EXPECT_EQ(fault_of(line_with(13, text)).field, 14U) << text;
  }
  for (const char* text : {"100000000", "g", "-1", " ", "1234567890123456789012345678901234567890"}) {
    EXPECT_EQ(fault_of(line_with(14, text)).field, 15U) << text;
  }
  for (const char* text : {"", "2", "01", "1 ", "a"}) {
    EXPECT_EQ(fault_of(line_with(0, text)).field, 1U) << text;
  }
  EXPECT_EQ(fault_of(line_with(0, "1") + "\t").field, 41U);
  EXPECT_EQ(fault_of("1\t2\t3").what, "only 3 of 40 fields");
  EXPECT_LE(fault_of(line_with(20, std::string(50'000'000, 'x'))).what.size(), 150U);
}

TEST(Zipf, RowsAreInTheTable) {
  const Zipf zipf(10, 1.2);
  const CounterRandom random(1, 2);
  std::uint64_t counter = 0;
  std::vector<int> found(10);
  for (int i = 0; i < 5000; ++i) {
    ++found.at(zipf([&] { return random.uniform(counter++); }));
  }
  EXPECT_GT(*std::min_element(found.begin(), found.end()), 0);
  EXPECT_LT(counter, 6000U);
}

}  // namespace
