// SPDX-License-Identifier: BSD-3-Clause
#include "common/day_arrays.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/data/day_files.hpp"

#include "support/batch_parts.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace tutti::miniapps;

constexpr std::uint64_t cut = 7;  // samples of the first of two days
constexpr std::uint64_t all = 12;

std::int32_t id_of(std::uint64_t sample, std::size_t table, std::uint64_t place) {
  return static_cast<std::int32_t>((sample * 5 + table * 3 + place * 7) % 40);
}

/// Table 0 has one id a sample, table 1 three, and table 2 none to four.
std::uint64_t hotness_of(std::uint64_t sample, std::size_t table) {
  return table == 0 ? 1 : table == 1 ? 3 : sample % 5;
}

template <typename T>
std::string npy(const std::string& type, std::vector<std::uint64_t> shape, const std::vector<T>& values) {
  return npy_header(type, shape) + std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::string zip(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string content;
  std::vector<ZipMember> directory;
  for (const auto& [name, bytes] : members) {
    directory.push_back({name, bytes.size(), 0, content.size()});
    content += zip_local_header(directory.back()) + bytes;
  }
  return content + zip_directory(directory, content.size());
}

/// The three files of a day with the samples [begin, end), and their entries of the sidecar.
void write_day(const TemporaryFolder& folder, std::uint64_t begin, std::uint64_t end, Sidecar& sidecar) {
  const std::uint64_t n = end - begin;
  std::vector<float> dense;
  std::vector<std::int32_t> labels;
  std::array<std::vector<std::int32_t>, 3> ids;
  std::vector<std::int64_t> offsets{0};
  for (std::uint64_t s = begin; s < end; ++s) {
    dense.insert(dense.end(), {static_cast<float>(s), static_cast<float>(s) / 4});
    labels.push_back(static_cast<std::int32_t>(s % 3 % 2));
    for (std::size_t t = 0; t < 3; ++t)
      for (std::uint64_t j = 0; j < hotness_of(s, t); ++j) ids[t].push_back(id_of(s, t, j));
    offsets.push_back(static_cast<std::int64_t>(ids[2].size()));
  }
  const std::string day = "day_" + std::to_string(begin == 0 ? 0 : 1);
  const auto add = [&](const std::string& name, const std::string& content, const std::string& bytes) {
    write_all(folder / name, bytes);
    sidecar.files.push_back({name, content, n, bytes.size(), 0});
  };
  add(day + "_dense.npy", "dense", npy("<f4", {n, 2}, dense));
  add(day + "_labels.npy", "labels", npy("<i4", {n, 1}, labels));
  add(day + "_sparse_multi_hot.npz", "sparse",
      zip({{"0.npy", npy("<i4", {n, 1}, ids[0])},
           {"1.npy", npy("<i4", {n, 3}, ids[1])},
           {"2.npy", npy("<i4", {ids[2].size()}, ids[2])},
           {"2_offsets.npy", npy("<i8", {n + 1}, offsets)}}));
}

void write_days(const TemporaryFolder& folder) {
  Sidecar sidecar;
  sidecar.format = criteo_npy_format;
  sidecar.train = 8;
  sidecar.test = 3;
  sidecar.validation = 1;
  sidecar.dense_features = 2;
  sidecar.tables.resize(3);
  for (std::size_t t = 0; t < 3; ++t) {
    sidecar.tables[t].rows = 40;
    sidecar.tables[t].hotness = t == 0 ? 1 : t == 1 ? 3 : 4;
    sidecar.tables[t].ragged = t == 2;
    for (std::uint64_t s = 0; s < all; ++s) sidecar.tables[t].lookups += hotness_of(s, t);
  }
  write_day(folder, 0, cut, sidecar);
  write_day(folder, cut, all, sidecar);
  write_sidecar(sidecar_path(folder.path()), sidecar);
}

void expect_sample(const Batch& batch, std::size_t i, std::uint64_t sample, std::int64_t range = 40) {
  EXPECT_EQ(batch.dense[2 * i], static_cast<float>(sample));
  EXPECT_EQ(batch.dense[2 * i + 1], static_cast<float>(sample) / 4);
  EXPECT_EQ(batch.labels[i], static_cast<float>(sample % 3 % 2));
  for (std::size_t t = 0; t < 3; ++t) {
    const auto& [offsets, indices] = batch.tables[t];
    ASSERT_EQ(static_cast<std::uint64_t>(offsets[i + 1] - offsets[i]), hotness_of(sample, t));
    for (std::uint64_t j = 0; j < hotness_of(sample, t); ++j)
      EXPECT_EQ(indices[static_cast<std::size_t>(offsets[i]) + j], id_of(sample, t, j) % range);
  }
}

Batch read(DayArrays& data, Split split, std::size_t batch_size, std::uint64_t k) {
  Batch batch;
  const std::array<std::size_t, 3> tables{0, 1, 2};
  data.read(split, batch_size, k, {{0, data.batch_count(split, batch_size, k)}, tables}, batch);
  return batch;
}

TEST(DayArrays, SamplesFollowEachOtherThroughDaysAndSplits) {
  const TemporaryFolder folder;
  write_days(folder);
  DayArrays data({.folder = folder.path()});
  EXPECT_EQ(data.dense_features(), 2U);
  EXPECT_EQ(data.table_rows(), (std::vector<std::uint64_t>{40, 40, 40}));
  EXPECT_EQ(data.mean_lookups()[1], 3);
  EXPECT_EQ(data.mean_lookups()[2], 21.0 / 12);
  std::uint64_t sample = 0;
  for (const Split split : {Split::train, Split::test, Split::validation}) {
    for (std::uint64_t k = 0; k < data.batches(split, 3); ++k) {
      const Batch batch = read(data, split, 3, k);
      for (std::size_t i = 0; i < batch.count; ++i) expect_sample(batch, i, sample++);
    }
  }
  EXPECT_EQ(sample, all);
  DayArrays few({.folder = folder.path(), .max_ind_range = 11});
  EXPECT_EQ(few.table_rows()[0], 11U);
  expect_sample(read(few, Split::test, 3, 0), 1, 9, 11);
}

TEST(DayArrays, RanksReadTheirOwnSamplesInEveryOrder) {
  const TemporaryFolder folder;
  write_days(folder);
  for (const Shuffle shuffle :
       {Shuffle::none, Shuffle::total, Shuffle::epoch, Shuffle::batches, Shuffle::interleaved}) {
    DayArrays data({.folder = folder.path(), .shuffle = shuffle});
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
      data.begin_epoch(epoch);
      std::vector<float> seen;
      for (std::uint64_t k = 0; k < 3; ++k) {
        expect_own_parts(data, Split::train, 3, k, 2);
        const Batch batch = read(data, Split::train, 3, k);
        for (std::size_t i = 0; i < batch.count; ++i) {
          seen.push_back(batch.dense[2 * i]);
          expect_sample(batch, i, static_cast<std::uint64_t>(seen.back()));
        }
      }
      std::sort(seen.begin(), seen.end());
      EXPECT_EQ(seen, (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
    }
  }
}

/// A day of two tables, without a sidecar.
void write_plain_day(const TemporaryFolder& folder, const std::string& day, std::uint64_t begin, std::uint64_t end) {
  Sidecar unused;
  write_day(folder, begin, end, unused);
  const std::string made = begin == 0 ? "day_0" : "day_1";
  for (const char* name : {"_dense.npy", "_labels.npy"}) {
    std::filesystem::rename(folder / (made + name), folder / (day + name));
  }
  std::filesystem::remove(folder / (made + "_sparse_multi_hot.npz"));
  std::array<std::vector<std::int32_t>, 2> ids;
  for (std::uint64_t s = begin; s < end; ++s) {
    for (std::size_t t = 0; t < 2; ++t) {
      for (std::uint64_t j = 0; j < hotness_of(s, t); ++j) ids[t].push_back(id_of(s, t, j));
    }
  }
  write_all(folder / (day + "_sparse_multi_hot.npz"),
            zip({{"0.npy", npy("<i4", {end - begin, 1}, ids[0])}, {"1.npy", npy("<i4", {end - begin, 3}, ids[1])}}));
}

TEST(DayArrays, FoldersWithoutASidecarSayWhatTheyHold) {
  const TemporaryFolder folder;
  EXPECT_FALSE(has_array_days(folder.path()));
  write_plain_day(folder, "day_3", 0, 7);
  EXPECT_TRUE(has_array_days(folder.path()));
  EXPECT_EQ(describe_array_days(folder.path()).train, 6U) << "six of the seven days into which one file is cut";
  write_plain_day(folder, "day_20", 7, 12);
  const Sidecar sidecar = describe_array_days(folder.path());
  EXPECT_EQ((std::array{sidecar.train, sidecar.test, sidecar.validation}), (std::array<std::uint64_t, 3>{7, 3, 2}));
  EXPECT_EQ(sidecar.tables[1].lookups, 3 * all);
  DayArrays data({.folder = folder.path(), .rows = {40, 39}});
  EXPECT_EQ(data.table_rows(), (std::vector<std::uint64_t>{40, 39}));
  const std::array<std::size_t, 2> tables{0, 1};
  Batch batch;
  data.read(Split::train, 7, 0, {{0, 7}, tables}, batch);
  for (std::uint64_t s = 0; s < 7; ++s) {
    EXPECT_EQ(batch.tables[0].indices[s], id_of(s, 0, 0));
    EXPECT_EQ(batch.tables[1].indices[3 * s + 2], id_of(s, 1, 2));
  }
  DayArrays few({.folder = folder.path(), .rows = {40, 37}});
  EXPECT_TRUE(contains(error_of([&] {
                         few.read(Split::test, 3, 0, {{0, 3}, tables}, batch);
                       }),
                       "sample 7 has the index 38 in table 1 of 37 rows"));
  EXPECT_TRUE(contains(error_of([&] { DayArrays one({.folder = folder.path(), .rows = {40}}); }), "has 2 tables"));
  write_all(folder / "day_0.gz", "");
  EXPECT_TRUE(contains(error_of([&] { (void)has_array_days(folder.path()); }), "of text and of arrays"));
}

void replace(const std::filesystem::path& path, std::size_t from_end, char byte) {
  std::string content = read_all(path);
  content[content.size() - from_end] = byte;
  write_all(path, content);
}

TEST(DayArrays, WhatDoesNotFitIsNamed) {
  const TemporaryFolder folder;
  write_days(folder);
  replace(folder / "day_1_labels.npy", 4 * 5, 9);  // the first sample of the day, the last but one of training
  DayArrays labels({.folder = folder.path()});
  EXPECT_TRUE(contains(error_of([&] { (void)read(labels, Split::train, 3, 2); }), "sample 7 has a label"));
  write_days(folder);
  replace(folder / "day_0_dense.npy", 1, '\x7f');
  replace(folder / "day_0_dense.npy", 2, '\xc0');
  DayArrays dense({.folder = folder.path()});
  EXPECT_TRUE(contains(error_of([&] { (void)read(dense, Split::train, 3, 2); }), "sample 6 has a dense feature"));
  write_all(folder / "day_0_labels.npy", npy<std::int32_t>("<i4", {7, 1}, {0, 0, 0, 0, 0, 0, 0}).substr(0, 100));
  EXPECT_TRUE(contains(error_of([&] { DayArrays cut_file({.folder = folder.path()}); }), "day_0_labels.npy"));
  EXPECT_TRUE(contains(error_of([&] { DayArrays days({.folder = folder.path(), .shuffle = Shuffle::day}); }), "day"));
}

}  // namespace
