// SPDX-License-Identifier: BSD-3-Clause
// What these tests run on: a GPU, or, in programs that are built to try the tests themselves, the stand-ins.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "device/runtime.hpp"

namespace tutti::test::gpu {

/// Makes the machine ready at the first call, after MPI_Init; why there is nothing to run on, empty where there is.
const std::string& why_not();

/// Whether the stand-ins are in the place of a GPU: then only smaller sizes are worth while.
bool is_standin();

/// A test that is skipped, with the reason, where there is no GPU.
class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!why_not().empty()) GTEST_SKIP() << "skipped: " << why_not();
  }
};

}  // namespace tutti::test::gpu
