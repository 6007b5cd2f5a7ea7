// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "common/criteo_convert.hpp"
#include "common/criteo_text.hpp"
#include "support/batch_parts.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace tutti::miniapps;

const std::array<std::size_t, 26> all_tables = [] {
  std::array<std::size_t, 26> tables{};
  for (std::size_t t = 0; t < 26; ++t) {
    tables[t] = t;
  }
  return tables;
}();

std::string line(int label, int dense, const std::string& category) {
  std::string text = std::to_string(label);
  for (int i = 0; i < 13; ++i) {
    text += "\t" + std::to_string(dense);
  }
  for (int i = 0; i < 26; ++i) {
    text += "\t" + category;
  }
  return text + "\n";
}

CriteoTextOptions options_for(const TemporaryFolder& folder, const std::string& content,
                              Shuffle shuffle = Shuffle::none) {
  write_all(folder / "text.txt", content);
  CriteoTextOptions options;
  options.file = folder / "text.txt";
  options.cache_dir = folder / "cache";
  options.shuffle = shuffle;
  return options;
}

Batch whole(DataSource& source, Split split) {
  Batch batch;
  const auto n = static_cast<std::size_t>(source.samples(split));
  source.read(split, n, 0, {{0, n}, all_tables}, batch);
  return batch;
}

std::string many_lines(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) {
    text += line(i % 2, i - 1, i % 3 == 0 ? "" : i % 3 == 1 ? "ff" : "0000000a");
  }
  return text;
}

TEST(CriteoText, ContinuesAKnownNumbering) {
  const TemporaryFolder folder;
  CriteoText first(options_for(folder, many_lines(23)));
  const CategoryValues known = first.categories();
  ASSERT_EQ(known.size(), 26U);
  EXPECT_EQ(known[25], (std::vector<std::uint32_t>{0, 0xff, 0xa}));
  // The same ids in another order and a new one between them; without the numbering "77" would have number 0.
  CriteoTextOptions options = options_for(folder, line(0, 1, "77") + line(1, 1, "0a") + line(1, 1, "ff"));
  options.known = known;
  options.all_test = true;
  CriteoText second(options);
  EXPECT_EQ(second.samples(Split::train), 0U);
  EXPECT_EQ(second.samples(Split::test), 3U);
  EXPECT_EQ(second.samples(Split::validation), 0U);
  EXPECT_EQ(second.table_rows()[0], 4U);
  EXPECT_EQ(whole(second, Split::test).tables[7].indices, (std::vector<std::int64_t>{3, 2, 1}));
  EXPECT_EQ(second.categories()[7], (std::vector<std::uint32_t>{0, 0xff, 0xa, 0x77}));
  // What the cache keeps is of one numbering.
  options.known = {};
  CriteoText alone(options);
  EXPECT_EQ(whole(alone, Split::test).tables[7].indices, (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(CriteoText, KeepsItsRecordsWhereTheVariableSays) {
  const TemporaryFolder folder;
  CriteoTextOptions options = options_for(folder, many_lines(7));
  options.cache_dir.clear();
  ASSERT_EQ(::setenv("TUTTI_CACHE_DIR", (folder / "named").c_str(), 1), 0);
  CriteoText text(options);
  ::unsetenv("TUTTI_CACHE_DIR");
  EXPECT_FALSE(std::filesystem::is_empty(folder / "named"));
}

TEST(CriteoText, NumbersCategoriesCutsDaysAndTakesLogs) {
  const TemporaryFolder folder;
  CriteoText text(options_for(folder, many_lines(23)));  // days of 4 4 3 3 3 3 3
  EXPECT_EQ(text.samples(Split::train), 20U);
  EXPECT_EQ(text.samples(Split::test), 2U);
  EXPECT_EQ(text.samples(Split::validation), 1U);
  EXPECT_EQ(text.summary().day_offsets, (std::vector<std::uint64_t>{0, 4, 8, 11, 14, 17, 20, 23}));
  const Batch train = whole(text, Split::train);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(train.labels[i], static_cast<float>(i % 2));
    EXPECT_EQ(train.tables[25].indices[i], static_cast<std::int64_t>(i % 3));
    EXPECT_FLOAT_EQ(train.dense[13 * i], std::log(static_cast<float>(i == 0 ? 0 : i - 1) + 1.0F));
  }
  EXPECT_EQ(whole(text, Split::test).tables[0].indices, (std::vector<std::int64_t>{2, 0}));
}

TEST(CriteoText, ShuffledDaysStayTogetherAndNothingIsLost) {
  const TemporaryFolder folder;
  for (const Shuffle shuffle : {Shuffle::day, Shuffle::total}) {
    CriteoText text(options_for(folder, many_lines(700), shuffle));
    const Batch train = whole(text, Split::train);
    std::vector<int> seen(600);
    bool moved = false;
    for (std::size_t i = 0; i < 600; ++i) {
      const auto value = static_cast<std::size_t>(std::lround(std::exp(train.dense[13 * i])));
      const std::size_t original = value == 1 && train.labels[i] == 0.0F ? 0 : value;
      ASSERT_LT(original, 600U);
      ++seen[original];
      moved = moved || original != i;
      if (shuffle == Shuffle::day) {
        EXPECT_EQ(original / 100, i / 100);
      }
    }
    EXPECT_TRUE(moved);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 600);
  }
}

TEST(CriteoText, MalformedLinesAreCountedAndNamed) {
  const TemporaryFolder folder;
  std::string bad = many_lines(10) + "1\t2\t3\n" + many_lines(5);
  auto options = options_for(folder, bad);
  const std::string message = error_of([&] { CriteoText text(options); });
  EXPECT_TRUE(contains(message, "line 11, field 4") && contains(message, "3 of 40 fields")) << message;
  options.max_bad_lines = 1;
  CriteoText text(options);
  EXPECT_EQ(text.summary().bad_lines, 1U);
  EXPECT_EQ(text.summary().day_offsets.back(), 15U);
  options.max_bad_lines = 0;  // also where the converted file is there already
  EXPECT_TRUE(contains(error_of([&] { CriteoText again(options); }), "line 11"));
  std::string fields = line(0, 1, "zz");
  options = options_for(folder, many_lines(10) + fields);
  EXPECT_TRUE(contains(error_of([&] { CriteoText again(options); }), "line 11, field 15: 'zz'"));
}

TEST(CriteoText, BlankLinesAtTheEndAreNone) {
  for (const char* end : {"\n", "\r\n\n", "\n\n\n"}) {
    const TemporaryFolder folder;
    const CriteoText text(options_for(folder, many_lines(21) + end));
    EXPECT_EQ(text.summary().lines, 21U);
    EXPECT_EQ(text.samples(Split::train), 18U);
  }
  const TemporaryFolder folder;
  const std::string message =
      error_of([&] { CriteoText text(options_for(folder, many_lines(7) + "\n" + many_lines(7))); });
  EXPECT_TRUE(contains(message, "line 8")) << message;
}

TEST(CriteoText, AFolderIsReadByTheNumbersOfItsDays) {
  const TemporaryFolder folder;
  CriteoTextOptions options = options_for(folder, "");
  options.file = folder / "days";
  std::filesystem::create_directory(options.file);
  EXPECT_TRUE(contains(error_of([&] { CriteoText text(options); }), "has no files day_0"));
  for (const auto& [name, label, lines] : {std::tuple("day_2", 0, 4), {"day_10.txt", 1, 5}, {"day_0", 1, 2}}) {
    std::string text;
    for (int i = 0; i < lines; ++i) text += line(label, lines, "0a");
    write_all(options.file / name, text);
  }
  write_all(options.file / "day_x", "no data");
  write_all(options.file / "notes", "no data");
  CriteoText text(options);
  EXPECT_EQ(text.summary().day_offsets, (std::vector<std::uint64_t>{0, 2, 6, 11}));
  EXPECT_EQ(whole(text, Split::train).labels, (std::vector<float>{1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(text.samples(Split::test), 3U);
  EXPECT_EQ(text.samples(Split::validation), 2U);
  // A changed day is converted again; lines are named within their file.
  write_all(options.file / "day_2", line(0, 4, "0a") + line(0, 4, "zz") + line(0, 4, "0a"));
  EXPECT_TRUE(contains(error_of([&] { CriteoText again(options); }), "the first is day_2, line 2, field 15: 'zz'"));
  write_all(options.file / "day_2", "");
  EXPECT_TRUE(contains(error_of([&] { CriteoText again(options); }), "day_2: is empty; remove it"));
  write_all(options.file / "day_02", line(0, 4, "0a"));
  EXPECT_TRUE(contains(error_of([&] { CriteoText again(options); }), "is day 2 once more"));
}

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(CriteoText, NoLockStaysInTheCache) {
  const TemporaryFolder folder;
  EXPECT_NE(error_of([&] { CriteoText text(options_for(folder, "no data\n")); }), "");
  EXPECT_EQ(files_in(folder / "cache"), 0U);
  const CriteoText text(options_for(folder, many_lines(21)));
  EXPECT_EQ(files_in(folder / "cache"), 3U) << "records, categories and what they are";
}

TEST(CriteoText, ACacheWithoutRoomIsNamedBeforeTheConversion) {
  EXPECT_NO_THROW(require_room("/cache", 10, 1600));
  const std::string message = error_of([] { require_room("/cache", 10, 1599); });
  EXPECT_TRUE(contains(message, "/cache") && contains(message, "1600") && contains(message, "TUTTI_CACHE_DIR"))
      << message;
}

TEST(CriteoText, AChangedRecordOfTheCacheIsNotTrained) {
  const TemporaryFolder folder;
  const auto options = options_for(folder, many_lines(21));
  (void)CriteoText(options);
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
    if (entry.path().extension() != ".bin") {
      continue;
    }
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(3 * 160);
    file.put(9);
  }
  CriteoText text(options);
  const std::string message = error_of([&] { (void)whole(text, Split::train); });
  EXPECT_TRUE(contains(message, "sample 3") && contains(message, "label")) << message;
}

TEST(CriteoText, ChangedFileIsConvertedAgain) {
  const TemporaryFolder folder;
  EXPECT_EQ(CriteoText(options_for(folder, many_lines(21))).samples(Split::train), 18U);
  EXPECT_EQ(CriteoText(options_for(folder, many_lines(28))).samples(Split::train), 24U);
}

TEST(CriteoText, MaxIndRangeAndSubSampling) {
  const TemporaryFolder folder;
  auto options = options_for(folder, many_lines(70));
  options.max_ind_range = 5;  // ff is 255, which is 0 modulo 5, as 10 is
  EXPECT_EQ(CriteoText(options).table_rows()[0], 1U);
  options.sub_sample_rate = 1.0;
  CriteoText positives(options);
  const Batch train = whole(positives, Split::train);
  EXPECT_EQ(std::count(train.labels.begin(), train.labels.end(), 1.0F), 30);
  EXPECT_EQ(train.labels.size(), 30U);
}

std::uint64_t first_dense(const Batch& batch, std::size_t i) {
  return static_cast<std::uint64_t>(std::lround(std::exp(batch.dense[13 * i])));
}

TEST(CriteoText, RanksReadTheirOwnSamplesInEveryOrder) {
  const TemporaryFolder folder;
  for (const Shuffle shuffle :
       {Shuffle::none, Shuffle::total, Shuffle::day, Shuffle::epoch, Shuffle::batches, Shuffle::interleaved}) {
    CriteoText text(options_for(folder, many_lines(700), shuffle));
    text.begin_epoch(1);
    for (const std::uint64_t k : {0U, 2U, 3U}) expect_own_parts(text, Split::train, 170, k, 3);
    expect_own_parts(text, Split::test, 170, 0, 4);
  }
}

TEST(CriteoText, OrdersOfEpochsHaveAllSamples) {
  const TemporaryFolder folder;
  for (const Shuffle shuffle : {Shuffle::epoch, Shuffle::batches}) {
    CriteoText text(options_for(folder, many_lines(700), shuffle));
    std::vector<std::vector<std::uint64_t>> epochs;
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      text.begin_epoch(epoch);
      std::vector<std::uint64_t> seen;
      for (std::uint64_t k = 0; k < 60; ++k) {
        Batch batch;
        text.read(Split::train, 10, k, {{0, 10}, all_tables}, batch);
        for (std::size_t i = 0; i < 10; ++i) {
          seen.push_back(first_dense(batch, i));
          EXPECT_TRUE(shuffle == Shuffle::epoch || i < 2 || seen.back() == seen[seen.size() - 2] + 1);
        }
      }
      epochs.push_back(seen);
      std::sort(seen.begin(), seen.end());
      for (std::uint64_t i = 2; i < 600; ++i) EXPECT_EQ(seen[i], i);
    }
    EXPECT_NE(epochs[0], epochs[1]);
    EXPECT_NE(epochs[1], epochs[2]);
  }
}

/// Bytes that this process has asked files for.
std::uint64_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string word;
  std::uint64_t value = 0;
  file >> word >> value;
  return word == "rchar:" ? value : 0;
}

TEST(CriteoBinary, ARankReadsItsShareOfABatch) {
  const TemporaryFolder folder;
  CriteoText text(options_for(folder, many_lines(7000)));
  text.write_binary(Split::train, folder / "x_train.bin");
  text.write_binary(Split::test, folder / "x_test.bin");
  const std::uint64_t before = bytes_read();
  CriteoBinary binary({.prefix = folder / "x", .rows = text.table_rows()});
  EXPECT_LT(bytes_read() - before, 1000U) << "nothing is read before it is asked for";
  if (before == 0) {
    GTEST_SKIP() << "no /proc/self/io";
  }
  Batch batch;
  const std::uint64_t begin = bytes_read();
  binary.read(Split::train, 6000, 0, {{1500, 3000}, all_tables, BagSamples::own}, batch);
  const std::uint64_t bytes = bytes_read() - begin;
  EXPECT_GE(bytes, 1500U * 160);
  EXPECT_LE(bytes, 1575U * 160);
}

TEST(CriteoBinary, AFileThatHasBecomeShorterIsNamed) {
  const TemporaryFolder folder;
  CriteoText text(options_for(folder, many_lines(700)));
  text.write_binary(Split::train, folder / "x_train.bin");
  text.write_binary(Split::test, folder / "x_test.bin");
  for (const Shuffle shuffle : {Shuffle::none, Shuffle::epoch}) {
    std::filesystem::resize_file(folder / "x_train.bin", 600 * 160);
    CriteoBinary binary({.prefix = folder / "x", .shuffle = shuffle, .rows = text.table_rows()});
    std::filesystem::resize_file(folder / "x_train.bin", 160);
    const std::string message = error_of([&] { (void)whole(binary, Split::train); });
    EXPECT_TRUE(contains(message, "x_train.bin") && contains(message, "shorter")) << message;
  }
}

TEST(CriteoBinary, LargeNumbersAndRangesAreThoseOfTheRecord) {
  const TemporaryFolder folder;
  for (const char* name : {"x_train.bin", "x_test.bin"}) {
    CriteoRecordWriter writer(folder / name);
    CriteoRecord record{1, {}, {}};
    for (std::size_t j = 0; j < 13; ++j) record.dense[j] = static_cast<std::int32_t>(j * 5461);
    for (std::size_t t = 0; t < 26; ++t) record.categories[t] = static_cast<std::int32_t>(t * 7);
    writer.append(record);
    writer.close();
  }
  CriteoBinary binary({.prefix = folder / "x", .max_ind_range = 10, .rows = std::vector<std::uint64_t>(26, 176)});
  EXPECT_EQ(binary.table_rows(), std::vector<std::uint64_t>(26, 10));
  const Batch batch = whole(binary, Split::train);
  for (std::size_t j = 0; j < 13; ++j) EXPECT_EQ(batch.dense[j], std::log(static_cast<float>(j * 5461) + 1.0F));
  for (std::size_t t = 0; t < 26; ++t) EXPECT_EQ(batch.tables[t].indices[0], static_cast<std::int64_t>(t * 7 % 10));
  EXPECT_TRUE(contains(error_of([&] { CriteoBinary day({.prefix = folder / "x", .shuffle = Shuffle::day}); }), "day"));
}

TEST(CriteoBinary, RoundTripAndTruncation) {
  const TemporaryFolder folder;
  CriteoText text(options_for(folder, many_lines(70)));
  text.write_binary(Split::train, folder / "x_train.bin");
  text.write_binary(Split::test, folder / "x_test.bin");
  CriteoBinary binary({.prefix = folder / "x", .rows = text.table_rows()});
  for (const Split split : {Split::train, Split::test}) {
    const Batch a = whole(text, split);
    const Batch b = whole(binary, split);
    EXPECT_EQ(a.dense, b.dense);
    EXPECT_EQ(a.labels, b.labels);
    for (std::size_t t = 0; t < 26; ++t) {
      EXPECT_EQ(a.tables[t].indices, b.tables[t].indices);
    }
  }
  EXPECT_EQ(binary.samples(Split::validation), 0U);
  std::filesystem::resize_file(folder / "x_train.bin", 160 * 59 + 1);
  const std::string message = error_of([&] { CriteoBinary cut({.prefix = folder / "x"}); });
  EXPECT_TRUE(contains(message, "x_train.bin") && contains(message, "truncated")) << message;
}

TEST(CriteoText, RealRowsHaveTheKnownCounts) {
  const auto file = shared_folder() / "data" / "criteo" / "train.txt";
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << "no " << file;
  }
  const TemporaryFolder folder;
  CriteoTextOptions options;
  options.file = file;
  options.cache_dir = folder / "cache";
  options.shuffle = Shuffle::none;
  CriteoText text(options);
  const std::array<std::uint64_t, 26> want{157, 370,  4525, 3370, 53,   8,   2817, 82,   3, 2584, 1904, 4338, 1591,
                                           22,  1833, 3906, 9,    1055, 481, 4,    4141, 8, 12,   2153, 38,   1636};
  EXPECT_EQ(text.table_rows(), std::vector<std::uint64_t>(want.begin(), want.end()));
  EXPECT_EQ(text.samples(Split::train), 6858U);
  EXPECT_EQ(text.samples(Split::test), 571U);
  EXPECT_EQ(text.samples(Split::validation), 571U);
  EXPECT_EQ(text.summary().lines, 8000U);
}

}  // namespace
