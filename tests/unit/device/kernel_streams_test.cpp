// SPDX-License-Identifier: BSD-3-Clause
#include "backends/device/kernel_streams.hpp"

#include <gtest/gtest.h>

#include "support/standin/runtime.hpp"

namespace tutti::detail {
namespace {

class KernelStreams : public ::testing::Test {
 protected:
  KernelStreams() { runtime.install(); }

  standin::Runtime runtime{2};
};

TEST_F(KernelStreams, ArePreparedOnce) {
  const device::StreamHandle stream = runtime.create_stream();
  EXPECT_FALSE(has_kernels_prepared(0, stream));
  prepare_kernels(0, stream);
  EXPECT_TRUE(has_kernels_prepared(0, stream));
  prepare_kernels(0, stream);
}

TEST_F(KernelStreams, TheDefaultStreamIsAnotherOneOnEachDevice) {
  prepare_kernels(0, nullptr);
  EXPECT_TRUE(has_kernels_prepared(0, nullptr));
  EXPECT_FALSE(has_kernels_prepared(1, nullptr));
  const device::Guard guard(1);
  prepare_kernels(1, nullptr);
  EXPECT_TRUE(has_kernels_prepared(1, nullptr));
}

}  // namespace
}  // namespace tutti::detail
