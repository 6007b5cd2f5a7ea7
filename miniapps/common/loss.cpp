// SPDX-License-Identifier: BSD-3-Clause
#include "loss.hpp"

#include <algorithm>
#include <cmath>
#include <tutti/error.hpp>

namespace tutti::miniapps {

LossKind loss_kind(const std::string& name) {
  if (name == "mse") {
    return LossKind::mse;
  }
  if (name == "bce") {
    return LossKind::bce;
  }
  if (name == "wbce") {
    return LossKind::wbce;
  }
  throw Error(ErrorCode::invalid_argument, "loss function '" + name + "' is not one of mse, bce, wbce");
}

namespace {

struct Term {
  float loss;
  float slope;
};

Term squared(float p, float y) { return {(p - y) * (p - y), 2.0F * (p - y)}; }

Term cross_entropy(float p, float y) {
  const float ln_p = std::max(std::log(p), -100.0F);
  const float ln_q = std::max(std::log1p(-p), -100.0F);
  return {(y - 1.0F) * ln_q - y * ln_p, (p - y) / std::max((1.0F - p) * p, 1e-12F)};
}

}  // namespace

double loss(const LossOptions& options, std::span<const float> predictions, std::span<const float> labels,
            std::size_t global_batch, std::span<float> gradient) {
  if (predictions.size() != labels.size() || (!gradient.empty() && gradient.size() != labels.size())) {
    throw Error(ErrorCode::invalid_argument, "loss: predictions, labels and gradient must have one length");
  }
  const float low = options.threshold > 0 ? static_cast<float>(options.threshold) : 0.0F;
  const float high = options.threshold > 0 ? static_cast<float>(1.0 - options.threshold) : 1.0F;
  const bool clamps = options.threshold > 0;
  const float share = 1.0F / static_cast<float>(global_batch);
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const float raw = predictions[i];
    const float p = clamps ? std::clamp(raw, low, high) : raw;
    Term term = options.kind == LossKind::mse ? squared(p, labels[i]) : cross_entropy(p, labels[i]);
    if (options.kind == LossKind::wbce) {
      const auto weight = static_cast<float>(options.weights[labels[i] >= 1.0F ? 1 : 0]);
      term = {term.loss * weight, term.slope * weight};
    }
    sum += static_cast<double>(term.loss);
    if (!gradient.empty()) {
      gradient[i] = clamps && (raw < low || raw > high) ? 0.0F : term.slope * share;
    }
  }
  return sum;
}

}  // namespace tutti::miniapps
