// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "common/data_source.hpp"

/// Expects that what `ranks` ranks read of batch `k`, each its own samples of all tables, is together what one rank
/// reads.
inline void expect_own_parts(tutti::miniapps::DataSource& source, tutti::miniapps::Split split, std::size_t batch_size,
                             std::uint64_t k, std::size_t ranks) {
  using namespace tutti::miniapps;
  std::vector<std::size_t> tables(source.table_rows().size());
  std::iota(tables.begin(), tables.end(), std::size_t{0});
  Batch whole;
  Batch part;
  const std::size_t count = source.batch_count(split, batch_size, k);
  source.read(split, batch_size, k, {{0, count}, tables}, whole);
  Batch joined;
  joined.tables.resize(tables.size(), {{0}, {}});
  for (std::size_t r = 0; r < ranks; ++r) {
    const SampleRange range{r * count / ranks, (r + 1) * count / ranks};
    source.read(split, batch_size, k, {range, tables, BagSamples::own}, part);
    EXPECT_EQ(part.count, count);
    joined.dense.insert(joined.dense.end(), part.dense.begin(), part.dense.end());
    joined.labels.insert(joined.labels.end(), part.labels.begin(), part.labels.end());
    for (std::size_t t = 0; t < tables.size(); ++t) {
      const auto& [offsets, indices] = part.tables[t];
      ASSERT_EQ(offsets.size(), range.size() + 1);
      EXPECT_EQ(offsets.back(), static_cast<std::int64_t>(indices.size()));
      const std::int64_t before = joined.tables[t].offsets.back();
      for (std::size_t i = 1; i < offsets.size(); ++i) joined.tables[t].offsets.push_back(before + offsets[i]);
      joined.tables[t].indices.insert(joined.tables[t].indices.end(), indices.begin(), indices.end());
    }
  }
  EXPECT_EQ(joined.dense, whole.dense);
  EXPECT_EQ(joined.labels, whole.labels);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    EXPECT_EQ(joined.tables[t].offsets, whole.tables[t].offsets) << "table " << t;
    EXPECT_EQ(joined.tables[t].indices, whole.tables[t].indices) << "table " << t;
  }
}
