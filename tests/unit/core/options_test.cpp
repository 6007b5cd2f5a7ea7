// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tutti/options.hpp>

struct CUstream_st;

namespace tutti {
namespace {

TEST(Stream, NoneDiffersFromTheDefaultStream) {
  const Stream none;
  const Stream standard = static_cast<CUstream_st*>(nullptr);
  EXPECT_EQ(none.kind, StreamKind::none);
  EXPECT_EQ(standard.kind, StreamKind::cuda);
  EXPECT_EQ(standard.handle, nullptr);
}

TEST(Options, DefaultsAskForNothing) {
  const Options options;
  EXPECT_EQ(options.timeout.count(), 0);
  EXPECT_TRUE(options.algorithm.empty());
  EXPECT_FALSE(options.reproducible);
  EXPECT_EQ(options.accumulation, Accumulation::full);
  EXPECT_EQ(options.memory, MemoryKind::detect);
}

}  // namespace
}  // namespace tutti
