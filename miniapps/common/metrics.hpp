// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/exact.hpp>
#include <vector>

namespace tutti::miniapps {

/// How good predictions are. What is not defined, because all labels are of one class, is a NaN.
struct Metrics {
  std::uint64_t samples = 0;
  double auc = 0;                 ///< Mann-Whitney, ties count half; sums in integers, one division
  double accuracy = 0;            ///< share of round(score) == label
  double log_loss = 0;            ///< mean, logs clamped at -100
  double normalized_entropy = 0;  ///< log loss over that of a model that always predicts the share of ones (He et al.,
                                  ///< "Practical lessons from predicting clicks on ads at Facebook", ADKDD 2014)
  double calibration = 0;         ///< sum of the scores over that of the labels
};

/// "AUC 0.927, accuracy 86.1 %, ...": a clause of a line.
[[nodiscard]] std::string metrics_text(const Metrics& metrics);

/// Metrics of predicted probabilities against labels 0 and 1 that come in pieces. The result has the same bits for any
/// order of the samples, and any number of ranks. Up to `exact_auc` samples, each is kept for the AUC; of more, 2^21
/// intervals of scores are counted, and scores of one interval are ties: 32 MiB on each rank, whatever their number.
class MetricsSum {
 public:
  static constexpr std::uint64_t exact_auc = std::uint64_t{1} << 22;

  /// `samples` of all ranks, at most; equal on all ranks.
  explicit MetricsSum(std::uint64_t samples);

  /// Adds samples of this rank. The first fault is kept: a NaN score (with its number), a label other than 0 and 1, or
  /// unequal lengths. Local.
  void add(std::span<const float> scores, std::span<const float> labels);

  /// Makes this the sum of all ranks. Collective over `comm`; blocking. Throws AgreedError with a rank's first fault.
  void combine(const Communicator& comm);

  /// Of what was added, or combined. Throws tutti::Error (invalid_argument) with the first fault. Local.
  [[nodiscard]] Metrics metrics() const;

 private:
  struct Counts {
    std::uint64_t samples = 0;
    std::uint64_t ones = 0;
    std::uint64_t right = 0;
  };
  void add(float score, float label);
  [[nodiscard]] double auc() const;

  Counts counts_;
  std::array<ExactSum, 2> sums_;                        ///< of losses and of scores
  std::vector<std::array<std::uint64_t, 2>> interval_;  ///< numbers of zeros and ones
  std::array<std::vector<float>, 2> scores_;            ///< of zeros and of ones, if there are no intervals
  std::string fault_;
};

}  // namespace tutti::miniapps
