// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <tutti/error.hpp>

#include "support/standin/runtime.hpp"

namespace tutti::detail::device {
namespace {

class Guards : public ::testing::Test {
 protected:
  Guards() { runtime.install(); }
  standin::Runtime runtime{3};
};

TEST_F(Guards, MakeADeviceCurrentAndRestoreTheFormer) {
  runtime.set_current_device(2);
  {
    const Guard guard(1);
    EXPECT_EQ(runtime.current_device(), 1);
    const Guard inner(0);
    EXPECT_EQ(runtime.current_device(), 0);
  }
  EXPECT_EQ(runtime.current_device(), 2);
}

TEST_F(Guards, RestoreAlsoAfterAnException) {
  try {
    const Guard guard(1);
    throw std::runtime_error("of the guarded part");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(runtime.current_device(), 0);
  }
}

TEST_F(Guards, CallNothingWhereTheDeviceIsCurrent) {
  { const Guard guard(0); }
  EXPECT_EQ(std::ranges::count(runtime.record(), "set_current_device 0"), 0);
}

TEST_F(Guards, DoNotFailAtTheEnd) {
  EXPECT_NO_THROW({
    const Guard guard(1);
    runtime.fail_next("set_current_device");
  });
}

TEST_F(Guards, LeaveTheDeviceWhereItCannotBeMadeCurrent) {
  EXPECT_THROW(const Guard guard(7), Error);
  EXPECT_EQ(runtime.current_device(), 0);
}

TEST(GuardWithoutCuda, SaysWhatWasNotBuilt) {
  if (runtime() != nullptr) GTEST_SKIP() << "this build has CUDA";
  try {
    const Guard guard(0);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::not_built);
    EXPECT_NE(std::string(e.what()).find("TUTTI_ENABLE_CUDA"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace tutti::detail::device
