// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "embedding_batch.hpp"

namespace {

using namespace embedding_test;

/// x with `bits` bits after the leading one, to nearest, ties to even. The smallest exponent is that of float16.
double to_bits(double x, int bits) {
  if (x == 0) return 0;
  const int exponent = bits == 10 ? std::max(std::ilogb(x), -14) : std::ilogb(x);
  const double unit = std::ldexp(1.0, exponent - bits);
  return std::nearbyint(x / unit) * unit;  // ties to even, as the processor rounds unless told otherwise
}

/// What a table keeps of x; rows of bytes keep the nearest of the values that their scale makes.
void expect_stored(DatatypeKind type, float got, float x, float scale, const std::string& where) {
  if (type == DatatypeKind::uint8) {
    ASSERT_NEAR(static_cast<double>(got), static_cast<double>(x), 0.5001 * static_cast<double>(scale) + 1e-6) << where;
    return;
  }
  const double wide = static_cast<double>(x);
  const double want = type == DatatypeKind::bfloat16  ? to_bits(wide, 7)
                      : type == DatatypeKind::float16 ? to_bits(wide, 10)
                                                      : wide;
  ASSERT_EQ(static_cast<double>(got), want) << where << ", of " << wide;
}

/// Values half way between two that can be stored: above an even one, and above an odd one.
TEST(EmbeddingRows, TiesGoToEven) {
  struct Tie {
    DatatypeKind type;
    float x, stored;
  };
  const Tie ties[] = {
      {DatatypeKind::bfloat16, 1 + 0x1p-8F, 1},     {DatatypeKind::bfloat16, 1 + 3 * 0x1p-8F, 1 + 0x1p-6F},
      {DatatypeKind::bfloat16, -(1 + 0x1p-8F), -1}, {DatatypeKind::bfloat16, -(1 + 3 * 0x1p-8F), -(1 + 0x1p-6F)},
      {DatatypeKind::float16, 1 + 0x1p-11F, 1},     {DatatypeKind::float16, 1 + 3 * 0x1p-11F, 1 + 0x1p-9F},
      {DatatypeKind::float16, -(2 + 0x1p-10F), -2}, {DatatypeKind::float16, 0x1p-25F, 0}};
  for (const std::size_t dim : {1U, 5U, 16U, 40U})
    for (const Tie& tie : ties) {
      OwnedTable own(tie.type, 2, dim);
      own.fill([&](std::size_t, std::size_t) { return tie.x; });
      for (const float y : own.values()) ASSERT_EQ(y, tie.stored) << datatype_name(tie.type) << ' ' << dim;
      // An update rounds in the same way.
      own.fill([&](std::size_t, std::size_t) { return tie.stored; });
      Batch batch(2, dim, 1, 0);
      batch.indices = {1};
      batch.offsets = {0, 1};
      std::fill(batch.gradient.begin(), batch.gradient.end(), tie.stored - tie.x);
      std::vector<float> none;
      batch.update(own.table(), none, RowUpdate{RowOptimizer::sgd, 1.0F});
      for (const float y : own.values()) ASSERT_EQ(y, tie.stored) << datatype_name(tie.type) << " update " << dim;
    }
}

TEST(EmbeddingRows, WriteAndReadBack) {
  for (const DatatypeKind type : all_types) {
    for (const std::size_t dim : {1U, 2U, 15U, 16U, 17U, 64U, 300U}) {
      OwnedTable own(type, 9, dim);
      const auto value = [](std::size_t r, std::size_t d) { return std::sin(static_cast<float>(r * 31 + d)) * 3; };
      own.fill(value);
      const auto read = own.values();
      for (std::size_t r = 0; r < 9; ++r) {
        for (std::size_t d = 0; d < dim; ++d) {
          expect_stored(type, read[r * dim + d], value(r, d), own.step_of(r), datatype_name(type));
        }
      }
      if (type == DatatypeKind::uint8) continue;
      write_rows(own.table(), {0, 9, 0, dim}, read.data(), dim);
      EXPECT_EQ(own.values(), read) << "what was read is what is stored";
    }
  }
}

TEST(EmbeddingRows, BlocksOfColumnsLeaveTheOthers) {
  constexpr std::size_t dim = 20;
  for (const DatatypeKind type : all_types) {
    OwnedTable own(type, 6, dim);
    own.fill(start_value);
    const auto before = own.values();
    const std::vector<float> news(4 * 9, 0.5F);  // two rows of four columns, nine values apart
    write_rows(own.table(), {2, 2, 7, 4}, news.data(), 9);
    std::vector<float> block(2 * 5, -1.0F);
    read_rows(own.table(), {2, 2, 7, 4}, block.data(), 5);
    const auto after = own.values();
    for (std::size_t r = 0; r < 6; ++r) {
      for (std::size_t d = 0; d < dim; ++d) {
        const bool written = r >= 2 && r < 4 && d >= 7 && d < 11;
        const float expected = written ? 0.5F : before[r * dim + d];
        expect_stored(type, after[r * dim + d], expected, own.step_of(r), datatype_name(type));
        if (written) {
          EXPECT_EQ(block[(r - 2) * 5 + d - 7], after[r * dim + d]);
        }
      }
    }
    EXPECT_EQ(block[4], -1.0F) << "values between rows are not written";
    if (type != DatatypeKind::uint8) {
      EXPECT_EQ(after[2 * dim], before[2 * dim]);
    }
  }
}

TEST(EmbeddingRows, ConstantRowsOfBytesAreExact) {
  for (const float x : {0.0F, -1.25F, 1e-30F, 0.1F}) {
    OwnedTable own(DatatypeKind::uint8, 2, 19);
    own.fill([&](std::size_t, std::size_t) { return x; });
    for (const float y : own.values()) EXPECT_EQ(y, x);
  }
}

TEST(EmbeddingRows, RefusesBlocksOutside) {
  OwnedTable own(DatatypeKind::bfloat16, 6, 8);
  std::vector<float> values(100);
  for (const RowBlock& block : {RowBlock{-1, 2, 0, 8}, {5, 2, 0, 8}, {0, 1, 1, 8}, {0, 1, 9, 0}, {0, -1, 0, 8}}) {
    EXPECT_THROW(read_rows(own.table(), block, values.data(), 8), Error);
    EXPECT_THROW(write_rows(own.table(), block, values.data(), 8), Error);
  }
  EXPECT_THROW(read_rows(own.table(), {0, 2, 0, 8}, values.data(), 7), Error);
  EXPECT_NO_THROW(read_rows(own.table(), {6, 0, 0, 8}, values.data(), 8));
  EXPECT_NO_THROW(write_rows(own.table(), {0, 6, 3, 0}, values.data(), 0));
}

/// Bags of a table of bytes are those of a float32 table with the values that the bytes stand for.
TEST(EmbeddingRows, ForwardReadsBytes) {
  for (const std::size_t dim : {1U, 16U, 33U, 64U, 128U}) {
    OwnedTable bytes(DatatypeKind::uint8, 70, dim);
    bytes.fill(start_value);
    OwnedTable wide(DatatypeKind::float32, 70, dim);
    wide.fill([&, values = bytes.values()](std::size_t r, std::size_t d) { return values[r * dim + d]; });
    const Batch batch(70, dim, 50, 9);
    std::vector<float> factors(batch.indices.size());
    for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = 0.5F + static_cast<float>(i % 5);
    for (const Pooling pooling : {Pooling::sum, Pooling::mean, Pooling::max}) {
      for (const bool weighted : {false, true}) {
        if (weighted && pooling == Pooling::max) continue;
        const TableLookups lookups{batch.indices.data(), batch.offsets.data(), weighted ? factors.data() : nullptr};
        std::vector<float> got[2];
        for (int k = 0; k < 2; ++k) {
          got[k].assign(batch.bags * dim, -7.0F);
          const Pooled<float> pooled{got[k].data(), dim};
          embedding_bag_forward({k == 0 ? &bytes.table() : &wide.table(), 1}, {&lookups, 1}, IndexType::int64,
                                batch.bags, {&pooled, 1}, {.pooling = pooling, .partitions = 3});
        }
        EXPECT_EQ(got[0], got[1]) << dim << ' ' << static_cast<int>(pooling);
      }
    }
  }
}

}  // namespace
