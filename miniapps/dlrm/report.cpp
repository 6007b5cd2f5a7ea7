// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace dlrm {

namespace {

/// "3.2 KB" or "1.9 MB".
std::string bytes_text(std::size_t count) {
  constexpr std::array<const char*, 4> units{"B", "KB", "MB", "GB"};
  double bytes = static_cast<double>(count);
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

/// The memory of so many float32 values.
std::string memory_text(std::size_t values) { return bytes_text(values * sizeof(float)); }

std::size_t parameters(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    sum += (widths[i] + 1) * widths[i + 1];
  }
  return sum;
}

std::string placement_text(const tutti::ShardingPlan& plan) {
  std::vector<std::size_t> shards(static_cast<std::size_t>(plan.ranks), 0);
  for (const auto& shard : plan.shards) {
    ++shards[static_cast<std::size_t>(shard.rank)];
  }
  std::string text;
  for (std::size_t r = 0; r < shards.size(); ++r) {
    text += fmt::format("{}rank {}: {} of {}", r == 0 ? "" : "; ", r, shards[r], bytes_text(plan.prediction[r].bytes));
  }
  return text;
}

std::string interaction_text(const Options& o) {
  if (o.interaction_op == "dcn") {
    return fmt::format("a cross network of {} layers of rank {}", o.dcn_num_layers, o.dcn_low_rank_dim);
  }
  return o.interaction_op + (o.interaction_itself ? " with itself" : "");
}

/// Number of parameters of the cross network.
std::size_t parameters(const InteractionShape& shape) {
  return shape.kind == InteractionKind::dcn ? shape.dcn_layers * shape.width() * (2 * shape.dcn_rank + 1) : 0;
}

std::string schedule_text(const Options& o) {
  std::string text = fmt::format("{}, learning rate {:g}", o.optimizer, o.learning_rate);
  if (o.warmup_steps > 0) {
    text += fmt::format(", warm-up over {} steps", o.warmup_steps);
  }
  if (o.decay_steps > 0) {
    text += fmt::format(", decay over {} steps from step {}", o.decay_steps, o.decay_start_step);
  }
  return text;
}

double exposed(const TrainingResults& results) {
  double sum = 0;
  for (const auto& phase : results.phases) {
    sum += phase.exposed ? phase.mean : 0;
  }
  return sum;
}

}  // namespace

Configuration configuration(const Options& o, const ModelShape& shape, const tutti::miniapps::DataSource& source,
                            const tutti::ShardingPlan& plan) {
  Configuration all{
      {"flags", o.command_line.empty() ? "none" : o.command_line.substr(1)},
      {"data", source.description()},
      {"batch",
       fmt::format("{} samples over all ranks, {} epoch{}", o.mini_batch_size, o.nepochs, o.nepochs == 1 ? "" : "s")},
      {"bottom", fmt::format("{}", fmt::join(shape.bottom, "-"))},
      {"top", fmt::format("{}, after {}", fmt::join(shape.top, "-"), interaction_text(o))},
      {"dense",
       fmt::format("{} on every rank, products in {}",
                   memory_text(parameters(shape.bottom) + parameters(shape.interaction) + parameters(shape.top)),
                   o.compute_type)},
      {"tables", fmt::format("{} of length {} in {}, {}; {}", shape.rows.size(), shape.dim, o.table_type, o.sharding,
                             placement_text(plan))},
      {"exchange", fmt::format("vectors and gradients of tables in {}", o.exchange_type)},
      {"loss", o.loss_function},
      {"optimizer", schedule_text(o)},
      {"seed", fmt::format("{}, {} weights", o.seed, o.init)},
  };
  if (o.table_memory > 0)
    all.emplace_back("on disk", fmt::format("rows and state in {}, with {} of memory on each rank", o.table_folder,
                                            bytes_text(o.table_memory)));
  return all;
}

std::string prefetch_text(std::uint64_t ahead) {
  return ahead == 0 ? "none, batches are read in the step"
                    : fmt::format("a thread reads {} batch{} ahead", ahead, ahead == 1 ? "" : "es");
}

std::string header_text(const Configuration& configuration, int ranks) {
  std::string text = fmt::format("tutti-dlrm on {} rank{}\n", ranks, ranks == 1 ? "" : "s");
  for (const auto& [name, value] : configuration) {
    text += fmt::format("  {:<10}{}\n", name, value);
  }
  return text;
}

std::string loss_text(const LossEntry& e, std::uint64_t batches) {
  return fmt::format("Finished training it {}/{} of epoch {}, {:.2f} ms/it, loss {:.6f}\n", e.batch, batches, e.epoch,
                     e.ms_per_iteration, e.loss);
}

std::string test_text(const tutti::miniapps::TestPoint& test) {
  return fmt::format("Test after {} steps: {}\n", test.iteration, metrics_text(test.metrics));
}

std::string phase_text(const TrainingResults& results) {
  double sum = 0;
  for (const auto& phase : results.phases) {
    sum += phase.mean;
  }
  const double whole = std::max(sum, 1e-9);
  std::string text = fmt::format("Trained {} steps in {:.2f} s, median {:.3f} ms a step\n", results.steps,
                                 results.training_seconds, results.ms_per_iteration);
  text += fmt::format("  {:<14}{:>10}{:>9}{:>16}\n", "phase", "ms/step", "share", "slowest rank");
  for (const auto& phase : results.phases) {
    text += fmt::format("  {:<14}{:>10.3f}{:>8.1f}%{:>16.3f}\n", phase.name, phase.mean, 100 * phase.mean / whole,
                        phase.largest);
  }
  text += fmt::format("  exposed communication (alltoall, allreduce): {:.3f} ms a step, {:.1f} %\n", exposed(results),
                      100 * exposed(results) / whole);
  return text;
}

std::string device_text(const TrainingResults& results, std::uint64_t graph_steps) {
  const double steps = static_cast<double>(std::max<std::uint64_t>(results.steps, 1));
  return fmt::format("Trained {} steps in {:.2f} s, mean {:.3f} ms a step; {} launched as graphs\n", results.steps,
                     results.training_seconds, 1e3 * results.training_seconds / steps, graph_steps);
}

std::string inference_text(const InferenceResults& r) {
  std::string text =
      fmt::format("Predicted {} samples in {} batches, {:.0f} samples/s\n", r.samples, r.batches, r.samples_per_second);
  text += fmt::format("  latency of a batch: mean {:.3f} ms, p50 {:.3f}, p95 {:.3f}, p99 {:.3f}\n", r.mean_ms, r.p50_ms,
                      r.p95_ms, r.p99_ms);
  if (r.metrics) {
    text += fmt::format("  {}\n", metrics_text(*r.metrics));
  }
  return text;
}

tutti::miniapps::Results json_results(const Configuration& configuration, int ranks, const TrainingResults& results,
                                      const std::vector<tutti::miniapps::TestPoint>& tests) {
  tutti::miniapps::Results json;
  json.configuration = configuration;
  json.ranks = ranks;
  for (const auto& entry : results.losses) {
    json.losses.push_back({entry.iteration, entry.loss});
  }
  json.tests = tests;
  json.ms_per_iteration = results.ms_per_iteration;
  json.training_seconds = results.training_seconds;
  for (const auto& phase : results.phases) {
    json.phases.emplace_back(phase.name, phase.mean);
  }
  json.exposed_communication_ms = exposed(results);
  return json;
}

tutti::miniapps::Results json_results(const Configuration& configuration, int ranks, const InferenceResults& results) {
  tutti::miniapps::Results json;
  json.configuration = configuration;
  json.ranks = ranks;
  if (results.metrics) {
    json.tests = {{results.batches, *results.metrics}};
  }
  json.inference = {{"batches", static_cast<double>(results.batches)},
                    {"samples", static_cast<double>(results.samples)},
                    {"samples_per_second", results.samples_per_second},
                    {"mean_ms", results.mean_ms},
                    {"p50_ms", results.p50_ms},
                    {"p95_ms", results.p95_ms},
                    {"p99_ms", results.p99_ms}};
  return json;
}

tutti::miniapps::Results json_results(const Configuration& configuration, int ranks,
                                      const std::vector<StepTime>& times) {
  tutti::miniapps::Results json;
  json.configuration = configuration;
  json.ranks = ranks;
  for (const auto& time : times) {
    json.phases.emplace_back(fmt::format("batch {}", time.batch), time.ms);
  }
  return json;
}

}  // namespace dlrm
