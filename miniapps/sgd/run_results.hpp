// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/phases.hpp"

namespace sgd {

/// A printed loss: the mean over the samples since the last one.
struct LossEntry {
  std::uint64_t step = 0;  ///< counted from 1 over all epochs
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;  ///< of the epoch, counted from 1
  double loss = 0;
  double ms_per_step = 0;
};

/// What training found; equal on all ranks.
struct TrainingResults {
  std::vector<LossEntry> losses;
  std::vector<tutti::miniapps::PhaseTime> phases;
  double ms_per_step = 0;  ///< median of the steps after the first few; of the slowest rank
  double training_seconds = 0;
  std::uint64_t steps = 0;    ///< done by this run
  double bytes_per_step = 0;  ///< that a rank gives to communication: rank 0's
  double exposed_ms = 0;      ///< communication that nothing hides, a step, mean over the ranks
  std::string details;
};

/// How good a model is.
struct Evaluation {
  std::uint64_t samples = 0;
  double loss = 0;
  std::optional<double> accuracy;  ///< of classes
  std::optional<double> auc;       ///< of two classes
};

}  // namespace sgd
