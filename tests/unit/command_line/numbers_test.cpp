// SPDX-License-Identifier: BSD-3-Clause
#include "common/command_line/numbers.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using namespace tutti::command_line;

template <typename T>
std::string why(const std::string& text, const NumberRange<T>& range) {
  try {
    (void)parse_number(text, range);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(Numbers, AreTheWholeText) {
  EXPECT_EQ(parse_number<int>("-7", {-7, 7}), -7);
  EXPECT_EQ(parse_number<int>("+7", {-7, 7}), 7);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615", {}), 18446744073709551615U);
  EXPECT_DOUBLE_EQ(parse_number<double>("2.5e-3", {0, 1}), 0.0025);
  for (const char* text : {"", " 1", "1 ", "1x", "+-1", "0x1", "1.0", "18446744073709551616", "-1"})
    EXPECT_NE(why<std::uint64_t>(text, {}), "") << text;
}

TEST(Numbers, KeepTheirRange) {
  EXPECT_EQ(why<int>("8", {-7, 7}), "'8' is not a whole number in [-7, 7]");
  EXPECT_EQ(why<double>("nan", {0, 1}), "'nan' is not a number in [0, 1]");
  EXPECT_EQ(why<double>("inf", {0, 1}), "'inf' is not a number in [0, 1]");
  const NumberRange<double> open{0, 1, true, true};
  EXPECT_EQ(why("0", open), "'0' is not a number in (0, 1)");
  EXPECT_EQ(why("1", open), "'1' is not a number in (0, 1)");
  EXPECT_EQ(why("0.5", open), "");
}

TEST(Bytes, HaveUnitsOf1024) {
  const NumberRange<std::uint64_t> all{};
  EXPECT_EQ(parse_bytes("4096", all), 4096U);
  for (const char* text : {"64K", "64k", "64KB", "64kb", "64KiB"}) EXPECT_EQ(parse_bytes(text, all), 65536U) << text;
  EXPECT_EQ(parse_bytes("25M", all), 25U << 20U);
  EXPECT_EQ(parse_bytes("2T", all), std::uint64_t{2} << 40U);
  for (const char* text : {"", "K", "-4", "1.5M", "1Q", "4 K", "99999999T", "K4"})
    EXPECT_THROW((void)parse_bytes(text, all), std::invalid_argument) << text;
  EXPECT_THROW((void)parse_bytes("9K", {1, 8192}), std::invalid_argument);
  EXPECT_EQ(bytes_text({1, std::uint64_t{16} << 20U}), "[1, 16M]");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("13--2", '-'), (std::vector<std::string>{"13", "", "2"}));
  EXPECT_EQ(split("a,", ','), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
}

}  // namespace
