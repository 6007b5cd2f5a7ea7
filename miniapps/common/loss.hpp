// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace tutti::miniapps {

enum class LossKind { mse, bce, wbce };

/// "mse", "bce" or "wbce"; throws tutti::Error (invalid_argument) for another name.
[[nodiscard]] LossKind loss_kind(const std::string& name);

struct LossOptions {
  LossKind kind = LossKind::mse;
  std::array<double, 2> weights{1.0, 1.0};  ///< wbce: of label 0 and label 1
  double threshold = 0;                     ///< above 0: predictions are clamped to [threshold, 1 - threshold]
};

/// The sum (not the mean) of the losses of these predictions, and, unless `gradient` is empty, the gradient of the mean
/// over `global_batch` samples with respect to each prediction. So sums over ranks need no further scaling. As torch's
/// MSELoss and BCELoss: logs are clamped at -100, the bce gradient is (p - y) / max(p (1 - p), 1e-12). Local.
double loss(const LossOptions& options, std::span<const float> predictions, std::span<const float> labels,
            std::size_t global_batch, std::span<float> gradient);

/// What scores (outputs without a last activation) are compared by.
enum class ScoreLoss {
  squared,   ///< (s - y)^2, one score a sample
  logistic,  ///< cross entropy of sigmoid(s), one score a sample, y is 0 or 1
  softmax,   ///< cross entropy of softmax(s), one score a class, y is the class's number
};

/// As loss(), of scores [labels.size()][width]: the sum of the losses, and the gradient of the mean over
/// `global_batch` samples. Stable for scores of any size. Throws tutti::Error (invalid_argument): unequal lengths, a
/// label that is no class. Local.
double score_loss(ScoreLoss kind, std::span<const float> scores, std::size_t width, std::span<const float> labels,
                  std::size_t global_batch, std::span<float> gradient);
double score_loss(ScoreLoss kind, std::span<const double> scores, std::size_t width, std::span<const double> labels,
                  std::size_t global_batch, std::span<double> gradient);

}  // namespace tutti::miniapps
