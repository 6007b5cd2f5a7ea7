// SPDX-License-Identifier: BSD-3-Clause
#include "common/device/cublas_table.hpp"

#include <gtest/gtest.h>

#include <tutti/error.hpp>

namespace tutti::miniapps::device {
namespace {

TEST(CublasTable, HasEveryFunctionOfTheInstalledLibrary) {
  try {
    const CublasTable& table = cublas_table();
#define TUTTI_CUBLAS_FUNCTION(member, symbol, arguments) EXPECT_NE(table.member, nullptr) << #symbol;
#include "common/device/cublas_symbols.def"
#undef TUTTI_CUBLAS_FUNCTION
#define TUTTI_CUBLAS_FUNCTION(member, symbol, arguments) EXPECT_NE(table.lt.member, nullptr) << #symbol;
#include "common/device/cublas_lt_symbols.def"
#undef TUTTI_CUBLAS_FUNCTION
  } catch (const Error& error) {
    ASSERT_NE(std::string(error.what()).find("TUTTI_CUBLAS_LIBRARY"), std::string::npos) << error.what();
    GTEST_SKIP() << error.what();
  }
}

TEST(CublasTable, AnotherTableTakesItsPlace) {
  const CublasTable other{};
  replace_cublas_table(&other);
  EXPECT_EQ(&cublas_table(), &other);
  replace_cublas_table(nullptr);
}

}  // namespace
}  // namespace tutti::miniapps::device
