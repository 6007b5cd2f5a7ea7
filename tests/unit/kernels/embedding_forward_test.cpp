// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <tutti/error.hpp>
#include <tutti/kernels/table_memory.hpp>

#include "embedding_case.hpp"

namespace {

using namespace embedding_test;

std::vector<float> forward(const Case& c, std::size_t partitions, std::size_t* outside = nullptr) {
  std::vector<float> output(c.s.rows.size() * c.s.bags * c.s.dim, -77.0F);
  const auto pooled = c.pooled(output.data());
  const std::size_t count =
      embedding_bag_forward(c.tables, c.lookups, c.s.index_type, c.s.bags, pooled, c.options(partitions));
  if (outside != nullptr) *outside = count;
  return output;
}

void check_forward(const CaseSettings& settings) {
  SCOPED_TRACE(describe(settings));
  const Case c(settings);
  std::size_t outside = 0;
  auto output = forward(c, 1, &outside);
  const auto pooled = c.pooled(output.data());
  std::size_t stray = 0;
  for (std::size_t t = 0; t < c.s.rows.size(); ++t) {
    for (auto p = c.first(t, 0); p < c.first(t, c.s.bags); ++p) {
      const auto index = c.indices[static_cast<std::size_t>(p)];
      stray += index < 0 || index >= c.s.rows[t] ? 1U : 0U;
    }
    for (std::size_t b = 0; b < c.s.bags; ++b) {
      for (std::size_t d = 0; d < c.s.dim; ++d) {
        ASSERT_NEAR(pooled[t].data[b * pooled[t].stride + d], c.pooled_reference(t, b, d), 2e-6)
            << "table " << t << " bag " << b << " value " << d;
      }
    }
  }
  EXPECT_EQ(outside, stray);
  for (const std::size_t partitions : {2U, 3U, 7U, 200U}) {
    std::size_t count = 0;
    EXPECT_EQ(forward(c, partitions, &count), output) << partitions << " partitions";
    EXPECT_EQ(count, outside);
  }
}

TEST(EmbeddingForward, EveryShapeTypeAndPooling) {
  for (const std::size_t dim : {1U, 3U, 16U, 17U, 32U, 64U, 128U, 300U}) {
    for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::float16}) {
      for (const Pooling pooling : {Pooling::sum, Pooling::mean, Pooling::max}) {
        for (const IndexType index : {IndexType::int32, IndexType::int64}) {
          CaseSettings s;
          s.dim = dim;
          s.type = type;
          s.pooling = pooling;
          s.index_type = index;
          s.bag_major = dim % 2 == 0;
          check_forward(s);
          if (pooling == Pooling::max) continue;
          s.weighted = true;
          check_forward(s);
        }
      }
    }
  }
}

TEST(EmbeddingForward, ClampAndIgnore) {
  for (const std::size_t dim : {5U, 64U}) {
    for (const IndexPolicy policy : {IndexPolicy::clamp, IndexPolicy::ignore}) {
      for (const Pooling pooling : {Pooling::sum, Pooling::mean, Pooling::max}) {
        CaseSettings s;
        s.dim = dim;
        s.policy = policy;
        s.pooling = pooling;
        s.stray_indices = true;
        check_forward(s);
      }
    }
  }
}

TEST(EmbeddingForward, FatalNamesTableRowAndSampleAndWritesNothing) {
  Case c(CaseSettings{});
  std::size_t bag = 20;
  while (c.first(1, bag) == c.first(1, bag + 1)) ++bag;
  c.indices[static_cast<std::size_t>(c.first(1, bag))] = 12345;
  std::vector<float> output(c.s.rows.size() * c.s.bags * c.s.dim, -77.0F);
  try {
    embedding_bag_forward(c.tables, c.lookups, c.s.index_type, c.s.bags, c.pooled(output.data()), c.options());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::index_out_of_range);
    const std::string text = error.what();
    EXPECT_NE(text.find("table 1"), std::string::npos) << text;
    EXPECT_NE(text.find("sample " + std::to_string(bag)), std::string::npos) << text;
    EXPECT_NE(text.find("row 12345"), std::string::npos) << text;
  }
  EXPECT_TRUE(std::all_of(output.begin(), output.end(), [](float x) { return x == -77.0F; }));
}

TEST(EmbeddingCheck, FindsTheFirstViolationWithoutTables) {
  Case c(CaseSettings{});
  for (auto& table : c.tables) table.weights = nullptr;
  EXPECT_FALSE(check_indices(c.tables, c.lookups, IndexType::int64, c.s.bags).has_value());
  const auto at = c.first(2, c.s.bags) - 1;
  c.indices[static_cast<std::size_t>(at)] = -1;
  const auto violation = check_indices(c.tables, c.lookups, IndexType::int64, c.s.bags);
  ASSERT_TRUE(violation.has_value());
  EXPECT_EQ(violation->table, 2U);
  EXPECT_EQ(violation->index, -1);
  EXPECT_EQ(violation->rows, 1000);
  EXPECT_EQ(c.first(2, violation->bag) + static_cast<std::int64_t>(violation->position), at);
}

/// Among seven indices of one bag, whether row `index` of `rows` is refused.
template <typename Index>
bool is_refused(std::int64_t rows, Index index) {
  std::vector<Index> indices(7, 0);
  indices[4] = index;
  const std::int64_t offsets[] = {0, 7};
  EmbeddingTable table;
  table.rows = rows;
  const TableLookups lookups{indices.data(), offsets, nullptr};
  const IndexType type = sizeof(Index) == 4 ? IndexType::int32 : IndexType::int64;
  const auto found = check_indices({&table, 1}, {&lookups, 1}, type, 1);
  if (found && rows > 0) {
    EXPECT_EQ(found->position, 4U);
  }
  return found.has_value();
}

template <typename Index>
void expect_borders_are_told() {
  constexpr Index most = std::numeric_limits<Index>::max();
  for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{2}, std::int64_t{1000}, std::int64_t{most}}) {
    for (const Index index : {Index{0}, Index{1}, Index{999}, Index{1000}, static_cast<Index>(most - 1), most,
                              Index{-1}, std::numeric_limits<Index>::min()})
      EXPECT_EQ(is_refused(rows, index), index < 0 || index >= rows) << index << " of " << rows;
  }
  EXPECT_TRUE(is_refused(0, Index{0}));
}

TEST(EmbeddingCheck, TellsTheBordersOfBothTypes) {
  expect_borders_are_told<std::int32_t>();
  expect_borders_are_told<std::int64_t>();
}

TEST(EmbeddingForward, NoBagsAndNoTables) {
  CaseSettings s;
  s.bags = 0;
  const Case c(s);
  EXPECT_NO_THROW(embedding_bag_forward(c.tables, c.lookups, IndexType::int64, 0, c.pooled<float>(nullptr)));
  EXPECT_NO_THROW(embedding_bag_forward({}, {}, IndexType::int64, 5, {}));
}

TEST(EmbeddingForward, RefusesImpossibleCalls) {
  Case c(CaseSettings{});
  std::vector<float> output(c.s.rows.size() * c.s.bags * c.s.dim);
  const auto pooled = c.pooled(output.data());
  const std::span lookups(c.lookups);
  EXPECT_THROW(embedding_bag_forward(c.tables, lookups.first(2), IndexType::int64, c.s.bags, pooled), Error);
  c.tables[0].type = DatatypeKind::float64;
  EXPECT_THROW(embedding_bag_forward(c.tables, lookups, IndexType::int64, c.s.bags, pooled), Error);
  c.tables[0].type = DatatypeKind::float32;
  c.tables[0].row_stride = c.s.dim - 1;
  EXPECT_THROW(embedding_bag_forward(c.tables, lookups, IndexType::int64, c.s.bags, pooled), Error);
}

TEST(EmbeddingForward, RefusesOffsetsThatDescendInTheMiddle) {
  const Case c(CaseSettings{});
  std::vector<float> output(c.s.rows.size() * c.s.bags * c.s.dim);
  std::vector<TableLookups> lookups = c.lookups;
  std::vector<std::int64_t> offsets(lookups[1].offsets, lookups[1].offsets + c.s.bags + 1);
  offsets[1] = offsets[2] + 1;
  lookups[1].offsets = offsets.data();
  for (const IndexPolicy policy : {IndexPolicy::fatal, IndexPolicy::clamp, IndexPolicy::ignore}) {
    try {
      embedding_bag_forward(c.tables, lookups, IndexType::int64, c.s.bags, c.pooled(output.data()), {.policy = policy});
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(error.what()).find("lookups[1].offsets descend at entry 2"), std::string::npos);
    }
  }
}

TEST(TableMemory, IsZeroAlignedAndWritable) {
  auto memory = allocate_table(5000000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % (1U << 21), 0U);
  EXPECT_TRUE(std::all_of(memory.get(), memory.get() + 5000000, [](std::byte b) { return b == std::byte{0}; }));
  std::memset(memory.get(), 1, 5000000);
  memory = allocate_table(1);
  EXPECT_EQ(*memory, std::byte{0});
}

}  // namespace
