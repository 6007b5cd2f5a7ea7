// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <tutti/datatype.hpp>

namespace tutti {
namespace {

template <typename T>
void expect_layout(const char* name) {
  EXPECT_EQ(datatype_of<T>().size(), sizeof(T)) << name;
  EXPECT_STREQ(datatype_name(datatype_of<T>().kind()), name);
}

TEST(Datatype, SizesAreThoseOfTheTypes) {
  expect_layout<char>("int8");
  expect_layout<std::uint16_t>("uint16");
  expect_layout<long long>("int64");
  expect_layout<float8_e4m3_t>("float8_e4m3");
  expect_layout<bfloat16_t>("bfloat16");
  expect_layout<float>("float32");
  expect_layout<std::complex<double>>("complex128");
  expect_layout<Float32Int32>("float32_int32");
  expect_layout<Float64Int32>("float64_int32");
  expect_layout<Int64Int32>("int64_int32");
  expect_layout<Float64Int64>("float64_int64");
  expect_layout<Float64Float64>("float64_float64");
}

TEST(Datatype, EveryKindHasASizeAndANameOfItsOwn) {
  std::set<std::string> names;
  for (int kind = 1; kind <= static_cast<int>(DatatypeKind::bytes); ++kind) {
    const Datatype type(static_cast<DatatypeKind>(kind));
    EXPECT_GT(type.size(), 0U) << kind;
    names.insert(datatype_name(type.kind()));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(DatatypeKind::bytes));
  EXPECT_EQ(names.count("unknown datatype"), 0U);
  EXPECT_STREQ(datatype_name(static_cast<DatatypeKind>(200)), "unknown datatype");
}

TEST(Datatype, BytesCarryTheirSize) {
  EXPECT_EQ(Datatype::bytes(12).size(), 12U);
  EXPECT_EQ(Datatype::bytes(12), Datatype::bytes(12));
  EXPECT_NE(Datatype::bytes(12), Datatype::bytes(13));
}

}  // namespace
}  // namespace tutti
