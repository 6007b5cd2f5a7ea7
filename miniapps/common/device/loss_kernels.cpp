// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <tutti/kernels/launch.hpp>

#include "dense_kernels.hpp"

namespace tutti::miniapps::device {

namespace {

using kernels::device::launch;

struct Term {
  float loss;
  float slope;
};

TUTTI_FUNCTION Term squared(float p, float y) { return {(p - y) * (p - y), 2.0F * (p - y)}; }

// A NaN must stay one: a maximum that drops it would hide it.
TUTTI_FUNCTION float at_least(float value, float least) { return value < least ? least : value; }

TUTTI_FUNCTION Term cross_entropy(float p, float y) {
  const float ln_p = at_least(std::log(p), -100.0F);
  const float ln_q = at_least(std::log1p(-p), -100.0F);
  return {(y - 1.0F) * ln_q - y * ln_p, (p - y) / at_least((1.0F - p) * p, 1e-12F)};
}

/// Partial k has samples k, k + loss_partials, and so on.
struct LossBody {
  const float* predictions;
  const float* labels;
  float* gradient;
  double* partials;
  std::size_t count;
  LossKind kind;
  float weights[2];
  bool clamps;
  float low;
  float high;
  float share;

  TUTTI_FUNCTION Term term(float p, float y) const {
    Term result = kind == LossKind::mse ? squared(p, y) : cross_entropy(p, y);
    if (kind == LossKind::wbce) {
      const float weight = weights[y >= 1.0F ? 1 : 0];
      result = {result.loss * weight, result.slope * weight};
    }
    return result;
  }

  TUTTI_FUNCTION void operator()(std::size_t k) const {
    double sum = 0;
    for (std::size_t i = k; i < count; i += loss_partials) {
      const float raw = predictions[i];
      const bool is_out = clamps && (raw < low || raw > high);
      const Term result = term(!is_out ? raw : raw < low ? low : high, labels[i]);
      sum += static_cast<double>(result.loss);
      gradient[i] = is_out ? 0.0F : result.slope * share;
    }
    partials[k] = sum;
  }
};

struct AddPartials {
  const double* partials;
  double* sum;
  TUTTI_FUNCTION void operator()(std::size_t) const {
    double all = 0;
    for (std::size_t k = 0; k < loss_partials; ++k) all += partials[k];
    *sum += all;
  }
};

}  // namespace

void loss(const LossOptions& options, const float* predictions, const float* labels, std::size_t count,
          std::size_t global_batch, float* gradient, double* partials, double* sum, StreamHandle stream) {
  LossBody body{};
  body.predictions = predictions;
  body.labels = labels;
  body.gradient = gradient;
  body.partials = partials;
  body.count = count;
  body.kind = options.kind;
  body.weights[0] = static_cast<float>(options.weights[0]);
  body.weights[1] = static_cast<float>(options.weights[1]);
  body.clamps = options.threshold > 0;
  body.low = static_cast<float>(options.threshold);
  body.high = static_cast<float>(1.0 - options.threshold);
  body.share = 1.0F / static_cast<float>(global_batch);
  launch(stream, loss_partials, body);
  launch(stream, 1, AddPartials{partials, sum});
}

}  // namespace tutti::miniapps::device
