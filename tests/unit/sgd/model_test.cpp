// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tutti/error.hpp>

#include "common/counter_random.hpp"
#include "common/loss.hpp"

namespace sgd {
namespace {

namespace mini = tutti::miniapps;

/// Five samples of six features, dense or with half of them, and labels that are classes.
Rows some_rows(bool sparse, std::size_t classes) {
  const mini::CounterRandom random(1, 2);
  Rows rows;
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::uint32_t j = 0; j < 6; ++j) {
      if (!sparse || (i + j) % 2 == 0) {
        rows.values.push_back(random.normal(i * 6 + j));
        if (sparse) {
          rows.columns.push_back(j);
        }
      }
    }
    rows.offsets.push_back(rows.columns.size());
    rows.labels.push_back(static_cast<double>(i % classes));
  }
  return rows;
}

double loss_at(Model<double>& model, const Rows& rows, mini::ScoreLoss kind) {
  return mini::score_loss(kind, model.forward(rows), model.outputs(), std::span<const double>(rows.labels), 5, {}) / 5;
}

/// Compares each gradient with the difference quotient, and sees that tensors come from the last to the first.
void check_gradients(std::vector<std::size_t> widths, bool sparse, mini::ScoreLoss kind) {
  Model<double> model(std::move(widths), sparse);
  model.initialize(4);
  const Rows rows = some_rows(sparse, kind == mini::ScoreLoss::softmax ? model.outputs() : 2);
  const auto scores = model.forward(rows);
  std::vector<double> slope(scores.size());
  mini::score_loss(kind, scores, model.outputs(), std::span<const double>(rows.labels), 5, std::span(slope));
  std::vector<std::size_t> order;
  model.backward(rows, slope, [&](std::size_t i) { order.push_back(i); });
  ASSERT_EQ(order.size(), model.tensors().size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i], order.size() - 1 - i);
  }
  constexpr double h = 1e-6;
  for (const auto& tensor : model.tensors()) {
    for (std::size_t v = 0; v < tensor.value.size(); ++v) {
      const double kept = tensor.value[v];
      tensor.value[v] = kept + h;
      const double above = loss_at(model, rows, kind);
      tensor.value[v] = kept - h;
      const double below = loss_at(model, rows, kind);
      tensor.value[v] = kept;
      ASSERT_NEAR(tensor.gradient[v], (above - below) / (2 * h), 1e-7) << tensor.name << " " << v;
    }
  }
}

TEST(Model, GradientsAreSlopes) {
  for (const bool sparse : {false, true}) {
    check_gradients({6, 1}, sparse, mini::ScoreLoss::squared);
    check_gradients({6, 1}, sparse, mini::ScoreLoss::logistic);
    check_gradients({6, 3}, sparse, mini::ScoreLoss::softmax);
    check_gradients({6, 8, 4, 3}, sparse, mini::ScoreLoss::softmax);
  }
}

TEST(Model, DenseAndSparseAgree) {
  Model<double> dense({6, 4}, false);
  Model<double> sparse({6, 4}, true);
  const mini::CounterRandom random(3, 1);
  for (std::size_t j = 0; j < 6; ++j) {
    for (std::size_t c = 0; c < 4; ++c) {
      dense.tensors()[0].value[c * 6 + j] = sparse.tensors()[0].value[j * 4 + c] = random.normal(j * 4 + c);
    }
  }
  Rows rows = some_rows(true, 2);
  const auto a = sparse.forward(rows);
  Rows full;
  full.labels = rows.labels;
  full.values.assign(30, 0);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t e = rows.offsets[i]; e < rows.offsets[i + 1]; ++e) {
      full.values[i * 6 + rows.columns[e]] = rows.values[e];
    }
  }
  const auto b = dense.forward(full);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 1e-12);
  }
}

TEST(Model, NoSamplesGiveZeroGradients) {
  for (const bool sparse : {false, true}) {
    Model<float> model({6, 4, 2}, sparse);
    model.initialize(1);
    for (const auto& tensor : model.tensors()) {
      std::fill(tensor.gradient.begin(), tensor.gradient.end(), 7.0F);
    }
    const Rows none;
    EXPECT_TRUE(model.forward(none).empty());
    model.backward(none, {}, [](std::size_t) {});
    for (const auto& tensor : model.tensors()) {
      for (const float g : tensor.gradient) {
        ASSERT_EQ(g, 0.0F) << tensor.name;
      }
    }
  }
}

TEST(ScoreLoss, ByHandAndForLargeScores) {
  const std::vector<double> two{0.5, -800};
  const std::vector<double> labels{1, 0};
  std::vector<double> slope(2);
  EXPECT_NEAR(mini::score_loss(mini::ScoreLoss::logistic, two, 1, std::span(labels), 2, std::span(slope)),
              std::log1p(std::exp(-0.5)), 1e-12);
  EXPECT_NEAR(slope[0], (1 / (1 + std::exp(-0.5)) - 1) / 2, 1e-12);
  EXPECT_EQ(slope[1], 0);
  const std::vector<double> three{1000, 0, 1000};
  const std::vector<double> zero{0};
  EXPECT_NEAR(mini::score_loss(mini::ScoreLoss::softmax, three, 3, std::span(zero), 1, std::span<double>{}),
              std::log(2.0), 1e-12);
  const std::vector<double> wrong{3};
  EXPECT_THROW(mini::score_loss(mini::ScoreLoss::softmax, three, 3, std::span(wrong), 1, std::span<double>{}),
               tutti::Error);
}

}  // namespace
}  // namespace sgd
