// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>
#include <tuple>
#include <tutti/error.hpp>

#include "embedding_batch.hpp"

namespace {

using namespace embedding_test;

using Combination = std::tuple<DatatypeKind, RowOptimizer, Rounding>;

class EmbeddingUpdate : public testing::TestWithParam<Combination> {
 protected:
  [[nodiscard]] static RowUpdate update_of(std::uint64_t step) {
    RowUpdate update{std::get<1>(GetParam()), 0.125F, 1e-8F};
    update.step = step;
    update.rounding = std::get<2>(GetParam());
    update.seed = 7;
    return update;
  }

  /// How far a stored value may be from x.
  [[nodiscard]] static double tolerance(double x, float scale) {
    const double ulps = std::get<2>(GetParam()) == Rounding::nearest ? 0.5 : 1.0;
    switch (std::get<0>(GetParam())) {
      case DatatypeKind::bfloat16:
        return ulps * std::fabs(x) * 0x1p-7 + 4e-6;
      case DatatypeKind::float16:
        return ulps * std::fabs(x) * 0x1p-10 + 4e-6;
      case DatatypeKind::uint8:
        return ulps * static_cast<double>(scale) + 4e-6;
      default:
        return 4e-6;
    }
  }

  static void train(std::int64_t rows, std::size_t dim, std::size_t bags) {
    SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(dim));
    OwnedTable own(std::get<0>(GetParam()), rows, dim);
    own.fill(start_value);
    auto state = zero_state(own.table(), std::get<1>(GetParam()));
    std::vector<double> exact(state.size());
    const std::size_t per_row = row_state_values(std::get<1>(GetParam()), dim);
    for (std::uint64_t step = 1; step <= 3; ++step) {
      const Batch batch(rows, dim, bags, 6, static_cast<unsigned>(step));
      const auto before = own.values();
      batch.update(own.table(), state, update_of(step));
      const auto after = own.values();
      const auto gradients = batch.row_gradients();
      for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
        std::vector<double> row(before.begin() + static_cast<std::ptrdiff_t>(r * dim),
                                before.begin() + static_cast<std::ptrdiff_t>((r + 1) * dim));
        const auto found = gradients.find(r);
        std::vector<double> row_state(exact.begin() + static_cast<std::ptrdiff_t>(r * per_row),
                                      exact.begin() + static_cast<std::ptrdiff_t>((r + 1) * per_row));
        if (found != gradients.end()) row = updated(update_of(step), row, found->second, row_state);
        std::copy(row_state.begin(), row_state.end(), exact.begin() + static_cast<std::ptrdiff_t>(r * per_row));
        for (std::size_t d = 0; d < dim; ++d) {
          const double allowed = found == gradients.end() ? 0 : tolerance(row[d], own.step_of(r));
          ASSERT_NEAR(after[r * dim + d], row[d], allowed) << "step " << step << " row " << r << " column " << d;
        }
      }
      for (std::size_t i = 0; i < state.size(); ++i) ASSERT_NEAR(state[i], exact[i], 1e-5 * (1 + std::fabs(exact[i])));
    }
  }
};

TEST_P(EmbeddingUpdate, IsThatOfTheFormulas) {
  for (const std::size_t dim : {1U, 7U, 16U, 33U, 64U, 128U}) train(61, dim, 40);
  train(1, 16, 9);
  train(20000, 16, 1500);  // many occurrences, most rows once
  train(300, 32, 1500);    // many occurrences, all rows often
}

TEST_P(EmbeddingUpdate, DoesNotDependOnPartitions) {
  for (const std::int64_t rows : {50, 20000}) {
    const Batch batch(rows, 24, 1500, 6);
    std::vector<unsigned char> bytes;
    std::vector<float> states;
    for (const std::size_t partitions : {1U, 2U, 3U, 7U}) {
      OwnedTable own(std::get<0>(GetParam()), rows, 24);
      own.fill(start_value);
      auto state = zero_state(own.table(), std::get<1>(GetParam()));
      batch.update(own.table(), state, update_of(3), partitions);
      if (partitions == 1) {
        bytes = own.bytes();
        states = state;
      }
      EXPECT_EQ(own.bytes(), bytes) << partitions << " partitions";
      EXPECT_EQ(state, states) << partitions << " partitions";
    }
  }
}

std::string name_of(const testing::TestParamInfo<Combination>& info) {
  static const char* optimizers[] = {"sgd", "adagrad", "row_wise_adagrad", "adam"};
  return std::string(datatype_name(std::get<0>(info.param))) + "_" +
         optimizers[static_cast<std::size_t>(std::get<1>(info.param))] +
         (std::get<2>(info.param) == Rounding::nearest ? "_nearest" : "_stochastic");
}

INSTANTIATE_TEST_SUITE_P(All, EmbeddingUpdate,
                         testing::Combine(testing::ValuesIn(all_types), testing::ValuesIn(all_optimizers),
                                          testing::Values(Rounding::nearest, Rounding::stochastic)),
                         name_of);

/// Gradients of the order of epsilon, where its place decides: torch.optim.SparseAdam adds it before the correction.
TEST(EmbeddingUpdateAdam, EpsilonHatIsAddedBeforeTheBiasCorrection) {
  constexpr std::size_t dim = 33;
  for (const bool hat : {false, true}) {
    OwnedTable own(DatatypeKind::float32, 7, dim);
    own.fill([](std::size_t, std::size_t) { return 0.0F; });
    auto state = zero_state(own.table(), RowOptimizer::adam);
    std::vector<double> row(dim), other(dim);
    std::vector<double> row_state(2 * dim), other_state(2 * dim);
    for (std::uint64_t step = 1; step <= 4; ++step) {
      Batch batch(7, dim, 1, 0);
      batch.indices = {3};
      batch.offsets = {0, 1};
      for (float& g : batch.gradient) g *= 1e-6F;
      RowUpdate update{RowOptimizer::adam, 0.125F, 1e-6F, 0.8, 0.95, step};
      update.epsilon_hat = hat;
      batch.update(own.table(), state, update);
      const std::vector<double> gradient = batch.row_gradients().at(3);
      row = updated(update, row, gradient, row_state);
      update.epsilon_hat = !hat;
      other = updated(update, other, gradient, other_state);
      const auto after = own.values();
      double apart = 0;
      for (std::size_t d = 0; d < dim; ++d) {
        ASSERT_NEAR(static_cast<double>(after[3 * dim + d]), row[d], 1e-6) << "step " << step << ", hat " << hat;
        apart = std::max(apart, std::fabs(row[d] - other[d]));
      }
      EXPECT_GT(apart, 0.01) << "the two ways hardly differ, so this shows nothing";
    }
  }
}

TEST(EmbeddingUpdateErrors, AdamCountsStepsFromOne) {
  OwnedTable own(DatatypeKind::float32, 5, 4);
  auto state = zero_state(own.table(), RowOptimizer::adam);
  RowUpdate update{RowOptimizer::adam};
  update.step = 0;
  EXPECT_THROW(Batch(5, 4, 3, 2).update(own.table(), state, update), Error);
}

TEST(EmbeddingUpdateErrors, BytesNeedScales) {
  OwnedTable own(DatatypeKind::uint8, 5, 4);
  EmbeddingTable table = own.table();
  table.scales = nullptr;
  std::vector<float> state;
  EXPECT_THROW(Batch(5, 4, 3, 2).update(table, state, RowUpdate{}), Error);
}

}  // namespace
