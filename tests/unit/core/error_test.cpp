// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tutti/error.hpp>

namespace tutti {
namespace {

TEST(Error, EveryCodeHasItsOwnNumberAndText) {
  std::set<int> numbers;
  std::set<std::string> texts;
  int count = 0;
#define TUTTI_ERROR_CODE(name, suffix, value, text)    \
  EXPECT_STREQ(error_string(ErrorCode::name), text);   \
  EXPECT_EQ(static_cast<int>(ErrorCode::name), value); \
  numbers.insert(value);                               \
  texts.insert(text);                                  \
  ++count;
#include <tutti/error_codes.def>
#undef TUTTI_ERROR_CODE
  EXPECT_EQ(static_cast<int>(numbers.size()), count);
  EXPECT_EQ(static_cast<int>(texts.size()), count);
  EXPECT_STREQ(error_string(static_cast<ErrorCode>(-5)), "unknown error");
}

TEST(Error, CarriesCodeAndText) {
  const Error e(ErrorCode::timeout, "allreduce, rank 1 of 2: late");
  EXPECT_EQ(e.code(), ErrorCode::timeout);
  EXPECT_STREQ(e.what(), "allreduce, rank 1 of 2: late");
}

}  // namespace
}  // namespace tutti
