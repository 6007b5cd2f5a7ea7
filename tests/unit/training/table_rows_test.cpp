// SPDX-License-Identifier: BSD-3-Clause
// Rows in steps, against lists of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <tutti/table_rows.hpp>
#include <vector>

#include "training/embedding/collection_sections.hpp"
#include "training/embedding/row_places.hpp"

namespace {

using namespace tutti;

std::vector<std::int64_t> listed(const TableRows& rows) {
  std::vector<std::int64_t> list;
  for (std::int64_t row = rows.begin; row < rows.end; row += rows.step) list.push_back(row);
  return list;
}

template <typename Visit>
void for_each_rows(const Visit& visit) {
  for (const std::int64_t begin : {0, 1, 5})
    for (const std::int64_t end : {0, 1, 6, 23, 24})
      for (const std::int64_t step : {1, 2, 3, 4, 6, 12, 64}) visit(TableRows{begin, end, step});
}

TEST(TableRows, KnowTheirPlaces) {
  for_each_rows([](const TableRows& rows) {
    const auto list = listed(rows);
    ASSERT_EQ(rows.size(), std::ssize(list));
    for (std::int64_t place = 0; place < rows.size(); ++place)
      EXPECT_EQ(rows.row(place), list[static_cast<std::size_t>(place)]);
    for (std::int64_t row = -2; row < 30; ++row) {
      const auto at = std::lower_bound(list.begin(), list.end(), row);
      EXPECT_EQ(rows.below(row), at - list.begin());
      EXPECT_EQ(rows.has(row), at != list.end() && *at == row);
    }
  });
}

/// The places without a division, also of numbers that no table has.
TEST(TableRows, PlacesAreThoseOfTheRowsAlone) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for_each_rows([](const TableRows& rows) {
    const detail::RowPlaces<false> places(rows);
    const detail::RowPlaces<true> of_block(rows);
    const auto check = [&](std::int64_t row) {
      ASSERT_EQ(places.of(row) < places.size(), rows.has(row)) << row << " in steps of " << rows.step;
      if (rows.has(row)) {
        ASSERT_EQ(places.of(row), static_cast<std::uint64_t>(rows.below(row)));
      }
      if (rows.step == 1) {
        ASSERT_EQ(of_block.of(row), places.of(row));
      }
    };
    for (std::int64_t row = -100; row < 100; ++row) check(row);
    for (std::int64_t row = 0; row < 100; ++row) {
      check(least + row);
      check(most - row);
      check(most / 2 + row);
    }
  });
  const TableRows large{3, std::int64_t{5} << 40, 1000};
  EXPECT_EQ(detail::RowPlaces<false>(large).of(large.row(large.size() - 1)),
            static_cast<std::uint64_t>(large.size()) - 1);
}

TEST(TableRows, MeetWhereBothAre) {
  for_each_rows([](const TableRows& a) {
    for_each_rows([&](const TableRows& b) {
      std::vector<std::int64_t> both;
      const auto first = listed(a);
      const auto second = listed(b);
      std::set_intersection(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(both));
      const auto common = common_rows(a, b);
      EXPECT_EQ(common ? listed(*common) : std::vector<std::int64_t>(), both)
          << a.begin << ':' << a.end << ':' << a.step << " and " << b.begin << ':' << b.end << ':' << b.step;
    });
  });
  constexpr std::int64_t far = std::int64_t{1} << 62;
  EXPECT_EQ(listed(*common_rows({0, far + 1, far}, {0, far + 1, far - 1})), std::vector<std::int64_t>{0});
}

TEST(TableRows, AreInTheNamesOfSections) {
  const std::vector<detail::TableSection> sections{{{}, "float32", {3, 11}, 0, 8}, {{}, "adam", {1, 12, 4}, 8, 16}};
  std::vector<std::string> names;
  for (const auto& section : sections) names.push_back(detail::section_name("embedding", "a b", section));
  EXPECT_EQ(names[0], "embedding a b float32 rows 3:11 columns 0:8");
  EXPECT_EQ(names[1], "embedding a b adam rows 1:12:4 columns 8:16");
  for (const char* other : {"rows 1:12:0 columns 8:16", "rows 1:12:4: columns 8:16", "rows 1:12:4 columns 8:16 more"})
    names.push_back(std::string("embedding a b adam ") + other);
  const auto found = detail::sections_of(names, "embedding", "a b");
  ASSERT_EQ(found.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found[i].name, names[i]);
    EXPECT_EQ(found[i].content, sections[i].content);
    EXPECT_EQ(found[i].rows, sections[i].rows);
    EXPECT_EQ(found[i].column_begin, sections[i].column_begin);
    EXPECT_EQ(found[i].column_end, sections[i].column_end);
  }
}

}  // namespace
