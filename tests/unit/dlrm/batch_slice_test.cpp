// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "batch_feed.hpp"

namespace dlrm {
namespace {

TEST(BatchSlice, CoversEverySampleOnce) {
  for (const std::size_t batch : {0U, 1U, 2U, 5U, 7U, 128U}) {
    for (const int ranks : {1, 2, 3, 4, 8}) {
      std::size_t at = 0;
      for (int r = 0; r < ranks; ++r) {
        const auto slice = batch_slice(batch, r, ranks);
        EXPECT_EQ(slice.begin, at);
        EXPECT_LE(slice.size(), (batch + static_cast<std::size_t>(ranks) - 1) / static_cast<std::size_t>(ranks));
        at = slice.end;
      }
      EXPECT_EQ(at, batch);
    }
  }
}

}  // namespace
}  // namespace dlrm
