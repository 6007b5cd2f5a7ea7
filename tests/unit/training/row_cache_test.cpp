// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/row_cache.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <random>
#include <tutti/error.hpp>
#include <utility>
#include <vector>

#include "support/temporary_folder.hpp"

namespace {

using namespace tutti;
using detail::RowArrays;
using detail::RowCache;
using detail::RowFile;
using detail::RowIndex;
using detail::RowShape;
using kernels::IndexType;

TEST(RowIndex, FindsWhatIsThereAfterManyChanges) {
  constexpr std::uint32_t slots = 97;
  std::vector<std::uint64_t> rows(slots);
  std::map<std::uint64_t, std::uint32_t> expected;
  std::vector<std::uint32_t> free;
  for (std::uint32_t slot = 0; slot < slots; ++slot) free.push_back(slot);
  RowIndex index;
  index.reset(slots);
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t row = random() % 300;
    ASSERT_EQ(index.find(row, rows.data()), expected.contains(row) ? expected[row] : RowIndex::none);
    if (expected.contains(row)) {
      index.erase(row, rows.data());
      rows[expected[row]] = ~std::uint64_t{0};
      free.push_back(expected[row]);
      expected.erase(row);
    } else if (!free.empty()) {
      rows[free.back()] = row;
      index.insert(row, free.back());
      expected[row] = free.back();
      free.pop_back();
    }
  }
}

/// A cache, and all of its rows in memory to compare with.
class Rows {
 public:
  Rows(const RowShape& shape, std::uint64_t rows, std::size_t slots)
      : shape_(shape), cache(shape, rows, slots * RowCache::slot_bytes(shape), folder_.path()), values_(rows) {
    for (auto& row : values_) row.resize(shape.bytes());
  }

  /// A batch that changes its rows.
  template <typename Index>
  void change(const std::vector<Index>& rows, IndexType type, unsigned char by) {
    std::vector<Index> slots(rows.size(), -1);
    const RowCache::Request request{0, rows.data(), slots.data(), rows.size()};
    cache.bring({&request, 1}, type);
    for (std::size_t i = 0; i < rows.size(); ++i) expect_slot(static_cast<std::uint64_t>(rows[i]), slots[i]);
    cache.note_change({&request, 1}, type);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = static_cast<std::size_t>(rows[i]);
      for (auto& byte : values_[row]) byte = static_cast<std::byte>(std::to_integer<unsigned char>(byte) + by + row);
      set_slot(row, static_cast<std::size_t>(slots[i]));
    }
  }
  void expect_all() { expect(0, values_.size()); }
  void expect(std::size_t first, std::size_t rows) {
    std::vector<std::byte> values(rows * shape_.value_bytes());
    std::vector<std::byte> scales(rows * shape_.scale_bytes());
    std::vector<std::byte> state(rows * shape_.state_bytes());
    cache.read(first, rows, {values.data(), scales.data(), state.data()});
    for (std::size_t row = 0; row < rows; ++row) {
      const std::byte* expected = values_[first + row].data();
      const auto expect_array = [&](const std::vector<std::byte>& array, std::size_t bytes) {
        ASSERT_EQ(std::memcmp(array.data() + row * bytes, expected, bytes), 0) << "row " << first + row;
        expected += bytes;
      };
      expect_array(values, shape_.value_bytes());
      expect_array(scales, shape_.scale_bytes());
      expect_array(state, shape_.state_bytes());
    }
  }
  /// Sets the values of rows, and not their state.
  void write_values(std::uint64_t first, std::size_t rows, std::byte value) {
    std::vector<std::byte> values(rows * shape_.value_bytes(), value);
    cache.write(first, rows, {values.data(), nullptr, nullptr});
    for (std::size_t row = 0; row < rows; ++row)
      std::fill_n(values_[static_cast<std::size_t>(first) + row].begin(), shape_.value_bytes(), value);
  }

 private:
  [[nodiscard]] std::vector<std::pair<std::byte*, std::size_t>> arrays(std::size_t slot) const {
    const auto& table = cache.table();
    return {{static_cast<std::byte*>(table.weights) + slot * shape_.value_bytes(), shape_.value_bytes()},
            {reinterpret_cast<std::byte*>(table.scales + slot), shape_.scale_bytes()},
            {reinterpret_cast<std::byte*>(cache.state() + slot * shape_.state_values), shape_.state_bytes()}};
  }
  void expect_slot(std::uint64_t row, std::int64_t slot) const {
    ASSERT_GE(slot, 0);
    ASSERT_LT(slot, cache.table().rows);
    EXPECT_EQ(cache.table().place.cached_rows[slot], row);
    const std::byte* expected = values_[static_cast<std::size_t>(row)].data();
    for (const auto& [data, bytes] : arrays(static_cast<std::size_t>(slot))) {
      ASSERT_TRUE(bytes == 0 || std::memcmp(data, expected, bytes) == 0) << "row " << row;
      expected += bytes;
    }
  }
  void set_slot(std::size_t row, std::size_t slot) {
    const std::byte* from = values_[row].data();
    for (const auto& [data, bytes] : arrays(slot)) {
      if (bytes > 0) std::memcpy(data, from, bytes);
      from += bytes;
    }
  }

  TemporaryFolder folder_;
  RowShape shape_;

 public:
  RowCache cache;

 private:
  std::vector<std::vector<std::byte>> values_;
};

constexpr RowShape row_shapes[] = {{DatatypeKind::float32, 8, 0},
                                   {DatatypeKind::float32, 33, 1},
                                   {DatatypeKind::bfloat16, 5, 10},
                                   {DatatypeKind::uint8, 7, 7}};

TEST(RowCache, RowsComeAndGoWithoutALoss) {
  for (const RowShape& shape : row_shapes) {
    Rows rows(shape, 2000, 64);
    std::mt19937 random(3);
    for (int batch = 0; batch < 200; ++batch) {
      std::vector<std::int64_t> some;
      for (int i = 0; i < 60; ++i) {
        const auto row = static_cast<std::int64_t>(random() % 2000);
        if (std::find(some.begin(), some.end(), row) == some.end()) some.push_back(row);
      }
      const std::vector<std::int32_t> narrow(some.begin(), some.end());
      if (batch % 2 == 0)
        rows.change(some, IndexType::int64, static_cast<unsigned char>(batch));
      else
        rows.change(narrow, IndexType::int32, static_cast<unsigned char>(batch));
      if (batch % 20 == 0) rows.write_values(random() % 1500, 500, static_cast<std::byte>(batch));
      if (batch % 50 == 0) rows.expect_all();
    }
    EXPECT_EQ(rows.cache.slots(), 64U);
    rows.expect_all();
  }
}

TEST(RowCache, MemoryGrowsForABatchThatNeedsMore) {
  Rows rows(row_shapes[1], 500, 8);
  rows.change(std::vector<std::int64_t>{3, 499, 7}, IndexType::int64, 1);
  std::vector<std::int64_t> many;
  for (std::int64_t row = 0; row < 500; row += 2) many.push_back(row);
  rows.change(many, IndexType::int64, 5);
  EXPECT_GE(rows.cache.slots(), many.size());
  rows.change(std::vector<std::int64_t>{499, 7, 8}, IndexType::int64, 2);
  rows.expect_all();
}

TEST(RowCache, AHotRowStays) {
  Rows rows(row_shapes[0], 5000, 32);
  const std::vector<std::int64_t> hot{4999};
  for (int i = 0; i < 3; ++i) rows.change(hot, IndexType::int64, 1);
  const std::uint64_t before = rows.cache.generation();
  for (std::int64_t row = 0; row < 32; ++row) rows.change(std::vector<std::int64_t>{row}, IndexType::int64, 1);
  EXPECT_GT(rows.cache.generation(), before);
  const std::uint64_t after = rows.cache.generation();
  rows.change(hot, IndexType::int64, 1);
  EXPECT_EQ(rows.cache.generation(), after) << "it was read again";
}

/// Cuts the files without a name that have so many bytes, and returns their number.
std::size_t cut_files(std::size_t bytes) {
  std::size_t cut = 0;
  for (int file = 0; file < 256; ++file) {
    struct stat status {};
    const bool is_one = fstat(file, &status) == 0 && status.st_nlink == 0 && std::cmp_equal(status.st_size, bytes);
    if (is_one && ftruncate(file, 0) == 0) ++cut;
  }
  return cut;
}

TEST(RowCache, RowsInSlotsAreReadWithoutTheFile) {
  constexpr RowShape shape = row_shapes[0];
  Rows rows(shape, 1237, 16);
  const std::vector<std::int64_t> some{1000, 1001, 1002};
  rows.change(some, IndexType::int64, 1);
  ASSERT_EQ(cut_files(1237 * shape.bytes()), 1U);
  rows.expect(1000, 3);
  EXPECT_TRUE(contains(error_of([&] { rows.expect(1000, 4); }), "the file has ended"));
}

TEST(RowFile, LeavesNoNameAndSaysWhatIsMissing) {
  const TemporaryFolder folder;
  RowFile file(folder.path(), 10000);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  std::vector<std::byte> bytes(10000, std::byte{1});
  file.read(0, bytes);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), std::byte{0}), 10000);
  const std::string text = error_of([&] { file.read(1, bytes); });
  EXPECT_TRUE(contains(text, folder.path().string()) && contains(text, "ended")) << text;

  const std::string none = error_of([&] { RowFile(folder / "none", 5); });
  EXPECT_TRUE(contains(none, "none' takes no file for 5 bytes")) << none;
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{4096, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string large = error_of([&] { RowFile(folder.path(), 8192); });
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_TRUE(contains(large, "has no room for 8192 bytes")) << large;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
