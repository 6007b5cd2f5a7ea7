// SPDX-License-Identifier: BSD-3-Clause
#include "tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace dlrm {
namespace {

using namespace tutti::miniapps;

/// Sample s looks up row s of the first table, as far as it goes, rows 0 and s of the second, and none of the third:
/// ids that are numbered as they appear.
class Numbered : public DataSource {
 public:
  explicit Numbered(std::uint64_t samples, std::vector<LookupCounts> known = {})
      : samples_(samples), known_(std::move(known)) {}
  [[nodiscard]] std::size_t dense_features() const override { return 0; }
  [[nodiscard]] const std::vector<std::uint64_t>& table_rows() const override { return rows_; }
  [[nodiscard]] std::vector<LookupCounts> lookup_counts() const override { return known_; }
  [[nodiscard]] std::uint64_t samples(Split split) const override { return split == Split::train ? samples_ : 10; }
  [[nodiscard]] std::string description() const override { return "numbered"; }
  void read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) override {
    begin_read(split, batch_size, k, part, batch);
    batch.tables.assign(3, {{0}, {}});
    for (std::size_t i = 0; i < batch.count; ++i) {
      const auto sample = static_cast<std::int64_t>(k * batch_size + i);
      const std::vector<std::int64_t> given[] = {{std::min<std::int64_t>(sample, 99999)}, {0, sample}, {}};
      for (std::size_t t = 0; t < 3; ++t) {
        auto& [offsets, indices] = batch.tables[t];
        indices.insert(indices.end(), given[t].begin(), given[t].end());
        offsets.push_back(static_cast<std::int64_t>(indices.size()));
      }
    }
  }

 private:
  std::uint64_t samples_;
  std::vector<LookupCounts> known_;
  std::vector<std::uint64_t> rows_{100000, 200000, 7};
};

std::vector<LookupCounts> count(std::uint64_t samples, std::size_t batch = 64) {
  Numbered source(samples);
  const std::vector<std::size_t> rows = {100000, 200000, 7};
  return count_lookups(source, rows, batch);
}

double part(std::span<const double> counts) { return std::accumulate(counts.begin(), counts.end(), 0.0); }

TEST(LookupShares, AreThoseOfSamplesFromAllOverTheData) {
  const auto counts = count(200000);
  ASSERT_EQ(counts.size(), 3U);
  const std::span<const double> first(counts[0].shares);
  const std::span<const double> second(counts[1].shares);
  const std::size_t half = first.size() / 2;
  // Half of the samples have the last row of the first table; half of the other lookups are in each half.
  EXPECT_NEAR(part(first.first(half)) / part(first), 0.25, 0.02);
  EXPECT_NEAR(first.back() / part(first), 0.5, 0.02);
  EXPECT_NEAR(part(second.first(half)) / part(second), 0.75, 0.02);
  EXPECT_GE(second.front() / part(second), 0.5);
  EXPECT_TRUE(counts[2].shares.empty());
}

TEST(LookupShares, HaveTheFrequenciesOfRowsInFourBatches) {
  for (const std::size_t batch : {64U, 4096U}) {
    const auto counts = count(200000, batch);
    const auto samples = static_cast<double>(batch == 64 ? 8192 : 4 * batch);
    EXPECT_EQ(part(counts[1].shares), 2 * samples);
    const auto& hot = counts[1].frequencies;
    EXPECT_EQ(hot.hot_rows.front(), 0);
    EXPECT_GE(hot.hot_lookups.front(), samples);
    EXPECT_EQ(part(hot.hot_lookups) + part(hot.bucket_lookups), 2 * samples);
    EXPECT_NEAR(static_cast<double>(hot.hot_rows.size()) + part(hot.bucket_rows), samples, 1);
    EXPECT_TRUE(counts[2].frequencies.empty());
  }
}

TEST(LookupShares, OfFewSamplesAreThoseOfAll) {
  const auto counts = count(300);
  EXPECT_EQ(part(counts[0].shares), 300);
  EXPECT_EQ(part(counts[1].shares), 600);
  const auto none = count(0);
  ASSERT_EQ(none.size(), 3U);
  EXPECT_TRUE(none[0].shares.empty() && none[1].shares.empty() && none[1].frequencies.empty());
}

TEST(LookupShares, AreThoseThatTheSourceKnowsOfItsRows) {
  std::vector<LookupCounts> known(3);
  known[0] = {{1, 2}, {{5}, {3}, {}, {}}};
  Numbered source(300, known);
  const std::vector<std::size_t> rows = {100000, 200000, 7};
  const auto counts = count_lookups(source, rows, 64);
  EXPECT_EQ(counts[0].shares, known[0].shares);
  EXPECT_EQ(counts[0].frequencies.hot_rows, known[0].frequencies.hot_rows);
  EXPECT_TRUE(counts[1].shares.empty());
  const std::vector<std::size_t> more = {100000, 200001, 7};
  EXPECT_EQ(part(count_lookups(source, more, 64)[1].shares), 600);
}

}  // namespace
}  // namespace dlrm
