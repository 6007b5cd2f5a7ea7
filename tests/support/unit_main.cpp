// SPDX-License-Identifier: BSD-3-Clause
// The main function of every unit test. It ends with 77, for ctest to show it as skipped, where all its cases were.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (RUN_ALL_TESTS() != 0) return 1;
  const auto& unit = *::testing::UnitTest::GetInstance();
  return unit.successful_test_count() == 0 && unit.skipped_test_count() > 0 ? 77 : 0;
}
