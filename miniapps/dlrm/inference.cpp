// SPDX-License-Identifier: BSD-3-Clause
#include "inference.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/range.hpp>

namespace dlrm {

namespace {

using Clock = std::chrono::steady_clock;

// Packing of weights, first touches of memory and plans are those of the first batches.
constexpr std::uint64_t most_warmup = 5;

void summarize(std::vector<double> latencies, InferenceResults& results) {
  const double sum = std::accumulate(latencies.begin(), latencies.end(), 0.0);
  std::sort(latencies.begin(), latencies.end());
  results.batches = latencies.size();
  if (latencies.empty() || sum <= 0) {
    return;
  }
  results.samples_per_second = 1e3 * static_cast<double>(results.samples) / sum;
  results.mean_ms = sum / static_cast<double>(latencies.size());
  results.p50_ms = percentile(latencies, 0.50);
  results.p95_ms = percentile(latencies, 0.95);
  results.p99_ms = percentile(latencies, 0.99);
}

}  // namespace

double percentile(const std::vector<double>& ascending, double q) {
  if (ascending.empty()) {
    return 0;
  }
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(ascending.size())));
  return ascending[std::clamp<std::size_t>(rank, 1, ascending.size()) - 1];
}

InferenceResults run_inference(const tutti::Communicator& comm, Engine& engine, BatchFeed& feed, std::uint64_t batches,
                               bool with_metrics, const std::function<void(std::uint64_t)>& on_batch) {
  const std::uint64_t count = std::min(batches, feed.batches());
  const std::uint64_t warmup = std::min(most_warmup, count / 4);
  std::vector<double> latencies;
  tutti::miniapps::MetricsSum metrics(with_metrics ? feed.samples() : 0);
  InferenceResults results;
  PhaseTimer untimed(0);
  engine.keep_parameters(true);
  feed.start({.per_epoch = feed.batches(), .count = count});
  for (std::uint64_t k = 0; k < count; ++k) {
    const BatchFeed::Loaded loaded = feed.next();
    const auto begin = Clock::now();
    const auto predictions = engine.predict(*loaded.batch, untimed, loaded.error);
    const std::chrono::duration<double, std::milli> latency = Clock::now() - begin;
    if (k >= warmup) {
      latencies.push_back(latency.count());
      results.samples += loaded.batch->count;
    }
    if (with_metrics) {
      metrics.add(predictions, loaded.batch->labels);
    }
    on_batch(k + 1);
  }
  engine.keep_parameters(false);
  tutti::allreduce(comm, latencies, tutti::max);
  summarize(std::move(latencies), results);
  if (with_metrics) {
    metrics.combine(comm);
    results.metrics = metrics.metrics();
  }
  return results;
}

tutti::miniapps::Metrics evaluate_model(const tutti::Communicator& comm, Engine& engine, BatchFeed& feed) {
  const tutti::Range range("evaluate");
  tutti::miniapps::MetricsSum sum(feed.samples());
  PhaseTimer untimed(0);
  feed.start();
  for (std::uint64_t k = 0; k < feed.batches(); ++k) {
    const BatchFeed::Loaded loaded = feed.next();
    const auto predictions = engine.predict(*loaded.batch, untimed, loaded.error);
    sum.add(predictions, loaded.batch->labels);
  }
  sum.combine(comm);
  return sum.metrics();
}

}  // namespace dlrm
