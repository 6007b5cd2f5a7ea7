// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <tutti/communicator.hpp>

#include "batch_feed.hpp"
#include "common/metrics.hpp"
#include "engine.hpp"

namespace dlrm {

/// What --inference-only found; equal on all ranks. A batch's latency is that of its slowest rank, from the batch being
/// read to the predictions. The first few batches are not in it.
struct InferenceResults {
  std::uint64_t batches = 0;      ///< in the latencies
  std::uint64_t samples = 0;      ///< in the latencies
  double samples_per_second = 0;  ///< of the time in the latencies
  double mean_ms = 0;
  double p50_ms = 0;
  double p95_ms = 0;
  double p99_ms = 0;
  std::optional<tutti::miniapps::Metrics> metrics;  ///< of all batches, where asked for
};

/// Predicts `batches` batches of the feed, or all it has where these are fewer; changes no parameter. `with_metrics`
/// compares the predictions with the labels. `on_batch` is local. Collective over `comm`; blocking. Throws AgreedError
/// where a batch cannot be read, or scores are not numbers.
[[nodiscard]] InferenceResults run_inference(const tutti::Communicator& comm, Engine& engine, BatchFeed& feed,
                                             std::uint64_t batches, bool with_metrics,
                                             const std::function<void(std::uint64_t)>& on_batch);

/// The smallest of ascending values that a share `q` of them does not exceed; 0 if there are no values.
[[nodiscard]] double percentile(const std::vector<double>& ascending, double q);

/// Predicts all test samples and compares; equal on all ranks and for any number of them. Collective over `comm`;
/// blocking. Throws AgreedError where scores are not numbers.
[[nodiscard]] tutti::miniapps::Metrics evaluate_model(const tutti::Communicator& comm, Engine& engine, BatchFeed& feed);

}  // namespace dlrm
