// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <tutti/error.hpp>

#include "embedding_case.hpp"

namespace {

using namespace embedding_test;

/// Tables and states after one backward.
struct Result {
  std::vector<std::vector<float>> weights;
  std::vector<std::vector<std::uint16_t>> halves;
  std::vector<std::vector<float>> states;
};

constexpr float state_start = 0.25F;

Result backward(Case& c, RowOptimizer optimizer, std::size_t partitions, EmbeddingWorkspace& workspace) {
  const Result before{c.weights, c.halves, {}};
  std::vector<std::vector<float>> states;
  std::vector<float*> pointers;
  for (const auto rows : c.s.rows) {
    const std::size_t per_row = optimizer == RowOptimizer::adagrad ? c.s.dim : 1;
    states.emplace_back(static_cast<std::size_t>(rows) * per_row, state_start);
  }
  for (auto& state : states) pointers.push_back(state.data());
  const RowUpdate update{optimizer, 0.5F};
  embedding_bag_backward(c.tables, c.lookups, c.s.index_type, c.s.bags, c.pooled<const float>(c.gradient.data()),
                         pointers, update, c.options(partitions), workspace);
  Result after{c.weights, c.halves, states};
  for (std::size_t t = 0; t < c.tables.size(); ++t) {
    std::copy(before.weights[t].begin(), before.weights[t].end(), c.weights[t].begin());
    std::copy(before.halves[t].begin(), before.halves[t].end(), c.halves[t].begin());
  }
  return after;
}

float stored(const Case& c, const Result& result, std::size_t t, std::size_t at) {
  if (c.s.type == DatatypeKind::float32) return result.weights[t][at];
  if (c.s.type == DatatypeKind::float16) return detail::widen_float16(result.halves[t][at]);
  return detail::float_from_bits(static_cast<std::uint32_t>(result.halves[t][at]) << 16);
}

void compare_row(const Case& c, RowOptimizer optimizer, const Result& result, std::size_t t, std::size_t r,
                 const double* g) {
  double mean = 0;
  bool touched = false;
  for (std::size_t d = 0; d < c.s.dim; ++d) {
    mean += g[d] * g[d] / static_cast<double>(c.s.dim);
    touched |= g[d] != 0;
  }
  const double tolerance = c.s.type == DatatypeKind::float32 ? 5e-6 : 4e-3;
  for (std::size_t d = 0; d < c.s.dim; ++d) {
    double step = 0.5 * g[d];
    if (optimizer == RowOptimizer::adagrad) {
      const double state = static_cast<double>(state_start) + g[d] * g[d];
      ASSERT_NEAR(result.states[t][r * c.s.dim + d], state, 1e-4 * state);
      step /= std::sqrt(state) + 1e-10;
    } else if (optimizer == RowOptimizer::row_wise_adagrad) {
      const double state = static_cast<double>(state_start) + mean;
      ASSERT_NEAR(result.states[t][r], state, 1e-4 * state);
      step /= std::sqrt(state) + 1e-10;
    }
    const double expected = static_cast<double>(c.value(t, r, d)) - step;
    const float got = stored(c, result, t, r * c.tables[t].row_stride + d);
    ASSERT_NEAR(got, expected, tolerance * (1 + std::fabs(expected)))
        << "table " << t << " row " << r << " value " << d;
    if (!touched) {
      ASSERT_EQ(got, c.value(t, r, d)) << "untouched row changed";
    }
  }
}

void check_backward(const CaseSettings& settings) {
  SCOPED_TRACE(describe(settings));
  Case c(settings);
  EmbeddingWorkspace workspace;
  for (const auto optimizer : {RowOptimizer::sgd, RowOptimizer::adagrad, RowOptimizer::row_wise_adagrad}) {
    const Result result = backward(c, optimizer, 1, workspace);
    for (std::size_t t = 0; t < c.tables.size(); ++t) {
      const auto gradients = c.row_gradients(t);
      for (std::size_t r = 0; r < static_cast<std::size_t>(c.s.rows[t]); ++r) {
        compare_row(c, optimizer, result, t, r, gradients.data() + r * c.s.dim);
        const std::size_t padding = r * c.tables[t].row_stride + c.s.dim;
        ASSERT_EQ(std::memcmp(&result.weights[t][padding], &c.weights[t][padding], 3 * sizeof(float)), 0);
      }
    }
    for (const std::size_t partitions : {2U, 3U, 7U}) {
      const Result other = backward(c, optimizer, partitions, workspace);
      EXPECT_EQ(other.weights, result.weights) << partitions << " partitions";
      EXPECT_EQ(other.halves, result.halves) << partitions << " partitions";
      EXPECT_EQ(other.states, result.states) << partitions << " partitions";
    }
  }
}

TEST(EmbeddingBackward, EveryShapeTypeAndPooling) {
  for (const std::size_t dim : {1U, 3U, 16U, 17U, 64U, 128U}) {
    for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::float16}) {
      for (const Pooling pooling : {Pooling::sum, Pooling::mean, Pooling::max}) {
        CaseSettings s;
        s.dim = dim;
        s.type = type;
        s.pooling = pooling;
        s.bag_major = dim % 2 == 0;
        s.index_type = dim % 3 == 0 ? IndexType::int32 : IndexType::int64;
        check_backward(s);
        if (pooling == Pooling::max) continue;
        s.weighted = true;
        check_backward(s);
      }
    }
  }
}

TEST(EmbeddingBackward, ClampAndIgnore) {
  for (const IndexPolicy policy : {IndexPolicy::clamp, IndexPolicy::ignore}) {
    for (const Pooling pooling : {Pooling::sum, Pooling::mean, Pooling::max}) {
      CaseSettings s;
      s.policy = policy;
      s.pooling = pooling;
      s.stray_indices = true;
      check_backward(s);
    }
  }
}

// Enough indices for the radix sort, so few rows that each has many duplicates; and many rows, three passes of it.
TEST(EmbeddingBackward, ManyDuplicatesAndManyRows) {
  CaseSettings s;
  s.rows = {7, 1, 5000000};
  s.dim = 3;
  s.bags = 1500;
  s.longest_bag = 8;
  Case c(s);
  EmbeddingWorkspace workspace;
  const Result result = backward(c, RowOptimizer::sgd, 1, workspace);
  for (std::size_t t = 0; t < 3; ++t) {
    const auto gradients = c.row_gradients(t);
    for (std::size_t r = 0; r < static_cast<std::size_t>(s.rows[t]); ++r) {
      for (std::size_t d = 0; d < s.dim; ++d) {
        const double expected = static_cast<double>(c.value(t, r, d)) - 0.5 * gradients[r * s.dim + d];
        ASSERT_NEAR(stored(c, result, t, r * c.tables[t].row_stride + d), expected, 1e-6 * (1 + std::fabs(expected)))
            << t << ' ' << r;
      }
    }
  }
  const Result other = backward(c, RowOptimizer::sgd, 5, workspace);
  EXPECT_EQ(other.weights, result.weights) << "sorting and chaining must sum in one order";
}

TEST(EmbeddingBackward, FatalLeavesTablesUntouched) {
  Case c(CaseSettings{});
  c.indices.back() = 1000000;
  const auto before = c.weights;
  EmbeddingWorkspace workspace;
  const auto pooled = c.pooled<const float>(c.gradient.data());
  EXPECT_THROW(embedding_bag_backward(c.tables, c.lookups, IndexType::int64, c.s.bags, pooled, {}, RowUpdate{},
                                      c.options(), workspace),
               Error);
  EXPECT_EQ(c.weights, before);
}

TEST(EmbeddingBackward, AdagradNeedsStates) {
  const Case c(CaseSettings{});
  EmbeddingWorkspace workspace;
  const auto pooled = c.pooled<const float>(c.gradient.data());
  EXPECT_THROW(embedding_bag_backward(c.tables, c.lookups, IndexType::int64, c.s.bags, pooled, {},
                                      RowUpdate{RowOptimizer::adagrad}, c.options(), workspace),
               Error);
}

TEST(EmbeddingBackward, BagsThatDoNotFitInto32BitsAreRefused) {
  const Case c(CaseSettings{});
  EmbeddingWorkspace workspace;
  const auto pooled = c.pooled<const float>(c.gradient.data());
  EXPECT_THROW(embedding_bag_backward(c.tables, c.lookups, IndexType::int64, std::size_t{1} << 32U, pooled, {},
                                      RowUpdate{}, c.options(), workspace),
               Error);
}

}  // namespace
