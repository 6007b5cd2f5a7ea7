// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <tutti/error.hpp>

#include "loss.hpp"

namespace tutti::miniapps {

namespace {

template <typename Float>
double squared(Float s, Float y, Float share, Float* slope) {
  if (slope != nullptr) {
    *slope = 2 * (s - y) * share;
  }
  return static_cast<double>((s - y) * (s - y));
}

/// max(s, 0) - s y + log(1 + exp(-|s|))
template <typename Float>
double logistic(Float s, Float y, Float share, Float* slope) {
  const Float e = std::exp(-std::abs(s));
  if (slope != nullptr) {
    const Float p = s >= 0 ? 1 / (1 + e) : e / (1 + e);
    *slope = (p - y) * share;
  }
  return static_cast<double>(std::max(s, Float{0}) - s * y + std::log1p(e));
}

template <typename Float>
double softmax(const Float* s, std::size_t width, Float y, Float share, Float* slope) {
  const auto wanted = static_cast<std::size_t>(y);
  const Float largest = *std::max_element(s, s + width);
  Float sum = 0;
  for (std::size_t c = 0; c < width; ++c) {
    sum += std::exp(s[c] - largest);
  }
  for (std::size_t c = 0; slope != nullptr && c < width; ++c) {
    slope[c] = (std::exp(s[c] - largest) / sum - (c == wanted ? Float{1} : Float{0})) * share;
  }
  return static_cast<double>(std::log(sum) + largest - s[wanted]);
}

template <typename Float>
void check(ScoreLoss kind, std::span<const Float> scores, std::size_t width, std::span<const Float> labels,
           std::span<Float> gradient) {
  if (width == 0 || scores.size() != labels.size() * width || (!gradient.empty() && gradient.size() != scores.size()) ||
      (kind != ScoreLoss::softmax && width != 1)) {
    throw Error(ErrorCode::invalid_argument, "score_loss: " + std::to_string(scores.size()) + " scores of width " +
                                                 std::to_string(width) + " do not fit " +
                                                 std::to_string(labels.size()) + " labels");
  }
  const Float classes = kind == ScoreLoss::softmax ? static_cast<Float>(width) : Float{2};
  for (std::size_t i = 0; kind != ScoreLoss::squared && i < labels.size(); ++i) {
    if (!(labels[i] >= 0 && labels[i] < classes) || labels[i] != std::floor(labels[i])) {
      throw Error(ErrorCode::invalid_argument, "score_loss: the label of sample " + std::to_string(i) + " is " +
                                                   std::to_string(labels[i]) + ", none of the classes 0 to " +
                                                   std::to_string(static_cast<std::size_t>(classes) - 1));
    }
  }
}

template <typename Float>
double sum_of(ScoreLoss kind, std::span<const Float> scores, std::size_t width, std::span<const Float> labels,
              std::size_t global_batch, std::span<Float> gradient) {
  check(kind, scores, width, labels, gradient);
  const Float share = Float{1} / static_cast<Float>(global_batch);
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Float* s = scores.data() + i * width;
    Float* slope = gradient.empty() ? nullptr : gradient.data() + i * width;
    switch (kind) {
      case ScoreLoss::squared:
        sum += squared(*s, labels[i], share, slope);
        break;
      case ScoreLoss::logistic:
        sum += logistic(*s, labels[i], share, slope);
        break;
      case ScoreLoss::softmax:
        sum += softmax(s, width, labels[i], share, slope);
        break;
    }
  }
  return sum;
}

}  // namespace

double score_loss(ScoreLoss kind, std::span<const float> scores, std::size_t width, std::span<const float> labels,
                  std::size_t global_batch, std::span<float> gradient) {
  return sum_of(kind, scores, width, labels, global_batch, gradient);
}

double score_loss(ScoreLoss kind, std::span<const double> scores, std::size_t width, std::span<const double> labels,
                  std::size_t global_batch, std::span<double> gradient) {
  return sum_of(kind, scores, width, labels, global_batch, gradient);
}

}  // namespace tutti::miniapps
