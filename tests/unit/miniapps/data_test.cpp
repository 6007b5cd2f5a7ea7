// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

#include "common/adult.hpp"
#include "common/criteo_text.hpp"
#include "common/data_files.hpp"
#include "common/random_data.hpp"
#include "support/batch_parts.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace tutti::miniapps;

TEST(RandomData, FirstSampleByHand) {
  RandomDataOptions options;
  options.samples = 3;
  options.dense_features = 2;
  options.table_rows = {4, 3};
  options.indices_per_lookup = 10;
  RandomData data(options);
  Batch batch;
  const std::array<std::size_t, 2> tables{0, 1};
  data.read(Split::train, 1, 0, {{0, 1}, tables}, batch);
  NumpyRandom random(123);
  EXPECT_EQ(batch.dense[0], 0.69646919F);
  EXPECT_EQ(batch.dense[1], 0.28613934F);
  random.skip_samples(2);
  for (std::size_t t = 0; t < 2; ++t) {
    const double rows = t == 0 ? 4 : 3;
    const auto k = static_cast<int>(std::nearbyint(std::max(1.0, random.random_sample() * rows)));
    std::set<std::int64_t> want;
    for (int i = 0; i < k; ++i) {
      want.insert(static_cast<std::int64_t>(std::nearbyint(random.random_sample() * (rows - 1))));
    }
    EXPECT_EQ(batch.tables[t].indices, std::vector<std::int64_t>(want.begin(), want.end()));
    EXPECT_EQ(batch.tables[t].offsets, (std::vector<std::int64_t>{0, static_cast<std::int64_t>(want.size())}));
  }
  EXPECT_EQ(batch.labels[0], static_cast<float>(random.random_sample()));
}

/// All that a rank may ask for agrees with the whole batch, in any order of reading.
TEST(RandomData, SlicesAndOrderDoNotMatter) {
  RandomDataOptions options;
  options.samples = 29;
  options.table_rows = {100, 7, 50};
  RandomData whole(options);
  RandomData part(options);
  const std::array<std::size_t, 3> all{0, 1, 2};
  const std::array<std::size_t, 1> last{2};
  for (const std::uint64_t k : {3U, 0U, 2U, 1U}) {
    Batch a;
    Batch b;
    const std::size_t n = whole.batch_count(Split::train, 8, k);
    EXPECT_EQ(n, k == 3 ? 5U : 8U);
    whole.read(Split::train, 8, k, {{0, n}, all}, a);
    part.read(Split::train, 8, k, {{2, 4}, last}, b);
    EXPECT_EQ(b.tables[0].indices, a.tables[2].indices);
    EXPECT_EQ(b.tables[0].offsets, a.tables[2].offsets);
    EXPECT_EQ(b.labels, std::vector<float>(a.labels.begin() + 2, a.labels.begin() + 4));
    EXPECT_EQ(b.dense, std::vector<float>(a.dense.begin() + 8, a.dense.begin() + 16));
  }
}

TEST(RandomData, RanksReadTheirOwnSamples) {
  for (const bool gaussian : {false, true}) {
    RandomDataOptions options;
    options.samples = 29;
    options.table_rows = {100, 7, 50};
    options.gaussian = gaussian;
    options.max = 6;
    RandomData data(options);
    for (const std::uint64_t k : {0U, 3U}) expect_own_parts(data, Split::train, 8, k, 3);
  }
}

TEST(RandomData, FixedAndGaussian) {
  RandomDataOptions options;
  options.samples = 50;
  options.indices_per_lookup_fixed = true;
  options.table_rows = {1000000};
  options.gaussian = true;
  options.max = 6;
  RandomData data(options);
  Batch batch;
  const std::array<std::size_t, 1> table{0};
  data.read(Split::train, 50, 0, {{0, 50}, table}, batch);
  for (const auto index : batch.tables[0].indices) {
    EXPECT_TRUE(index >= 0 && index <= 6);
  }
  EXPECT_TRUE(contains(error_of([&] { data.read(Split::train, 50, 1, {{}, table}, batch); }), "no batch 1"));
}

TEST(DataFiles, AreFirstLookedForWhereTheVariableSays) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "adult");
  write_all(folder / "adult" / "adult.data.gz", "mine");
  ASSERT_EQ(::setenv("TUTTI_DATA_DIR", (folder / ".").c_str(), 1), 0);
  const auto found = find_data("adult/adult.data.gz");
  ::unsetenv("TUTTI_DATA_DIR");
  EXPECT_EQ(read_maybe_gzip(found), "mine");
}

TEST(Adult, ShipsWholeAndIsSplitAsGiven) {
  Adult data(1);
  EXPECT_EQ(data.samples(Split::train), 32561U);
  EXPECT_EQ(data.samples(Split::test), 16281U);
  std::vector<std::size_t> tables(data.table_rows().size());
  for (std::size_t t = 0; t < tables.size(); ++t) {
    tables[t] = t;
  }
  Batch batch;
  double positives = 0;
  std::vector<double> sum(data.dense_features());
  for (std::uint64_t k = 0; k < data.batches(Split::train, 1000); ++k) {
    const std::size_t n = data.batch_count(Split::train, 1000, k);
    data.read(Split::train, 1000, k, {{0, n}, tables}, batch);
    for (std::size_t i = 0; i < n; ++i) {
      positives += static_cast<double>(batch.labels[i]);
      for (std::size_t j = 0; j < sum.size(); ++j) {
        sum[j] += static_cast<double>(batch.dense[i * sum.size() + j]);
      }
      for (const std::size_t t : tables) {
        const auto index = batch.tables[t].indices[i];
        ASSERT_TRUE(index >= 0 && static_cast<std::uint64_t>(index) < data.table_rows()[t]);
      }
    }
  }
  EXPECT_EQ(positives, 7841);
  for (const double s : sum) {
    EXPECT_NEAR(s / 32561, 0.0, 1e-4);
  }
}

TEST(Adult, EpochsDifferAndRepeat) {
  Adult data(1);
  Batch first;
  Batch second;
  const std::array<std::size_t, 1> table{0};
  data.begin_epoch(0);
  data.read(Split::train, 64, 0, {{0, 64}, table}, first);
  data.begin_epoch(1);
  data.read(Split::train, 64, 0, {{0, 64}, table}, second);
  EXPECT_NE(first.dense, second.dense);
  data.begin_epoch(0);
  data.read(Split::train, 64, 0, {{0, 64}, table}, second);
  EXPECT_EQ(first.dense, second.dense);
}

TEST(Adult, RanksReadTheirOwnSamples) {
  Adult data(1);
  data.begin_epoch(3);
  expect_own_parts(data, Split::train, 100, 7, 3);
  expect_own_parts(data, Split::test, 100, 162, 4);
}

TEST(Adult, DamagedFileIsNamed) {
  const TemporaryFolder folder;
  write_all(folder / "adult.data.gz", "39, State-gov, x\n");
  write_all(folder / "adult.test.gz", "");
  const std::string message = error_of([&] { Adult data(1, folder.path()); });
  EXPECT_TRUE(contains(message, "adult.data.gz") && contains(message, "line 1")) << message;
}

}  // namespace
