// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <tutti/communicator.hpp>

namespace tutti::miniapps {

struct Metrics {
  std::uint64_t samples = 0;
  double auc = 0;       ///< Mann-Whitney, ties count half; sums in integers, one division
  double accuracy = 0;  ///< share of round(score) == label
  double log_loss = 0;  ///< mean, logs clamped at -100
};

/// Metrics of predicted probabilities against labels 0 and 1. The result does not depend on the order of the samples.
/// Throws tutti::Error (invalid_argument): a NaN score (with its number), labels of one class only, other labels,
/// unequal lengths. Local.
[[nodiscard]] Metrics evaluate(std::span<const float> scores, std::span<const float> labels);

/// The same over the samples of all ranks, each passing its own part, which may be empty; every rank gets the same
/// bits, on any number of ranks. Collective over `comm`, blocking; host memory; 16 bytes a sample of all ranks on each,
/// beside what it passes. Throws as evaluate, on every rank alike.
[[nodiscard]] Metrics evaluate(const Communicator& comm, std::span<const float> scores, std::span<const float> labels);

}  // namespace tutti::miniapps
