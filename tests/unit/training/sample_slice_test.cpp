// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <tutti/embedding_collection.hpp>

namespace tutti {
namespace {

TEST(SampleSlice, EverySampleBelongsToOneRank) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    for (std::size_t batch = 0; batch <= 40; ++batch) {
      std::size_t next = 0;
      std::size_t least = batch;
      std::size_t most = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const SampleSlice slice = sample_slice(batch, rank, ranks);
        EXPECT_EQ(slice.begin, next) << batch << " samples, rank " << rank << " of " << ranks;
        next = slice.end;
        least = std::min(least, slice.size());
        most = std::max(most, slice.size());
      }
      EXPECT_EQ(next, batch) << ranks << " ranks";
      EXPECT_LE(most - least, 1U) << batch << " samples, " << ranks << " ranks";
    }
  }
}

}  // namespace
}  // namespace tutti
