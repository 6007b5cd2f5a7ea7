// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/show/text_file.hpp"

namespace sgd {

namespace {

std::string optimizer_text(const Options& o) {
  std::string text = fmt::format("{}, learning rate {:g} ({})", o.optimizer, o.learning_rate, o.schedule);
  if (o.momentum > 0) {
    text += fmt::format(", {}momentum {:g}", o.nesterov ? "Nesterov's " : "", o.momentum);
  }
  if (o.weight_decay > 0) {
    text += fmt::format(", weight decay {:g}", o.weight_decay);
  }
  if (o.warmup_steps > 0) {
    text += fmt::format(", warm-up over {} steps", o.warmup_steps);
  }
  return text + (o.clip > 0 ? fmt::format(", clipped to {:g}", o.clip) : "");
}

std::size_t parameters(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    sum += (widths[i] + 1) * widths[i + 1];
  }
  return sum;
}

using Json = nlohmann::ordered_json;

Json to_json(const Evaluation& e) {
  Json json{{"loss", e.loss}, {"samples", e.samples}};
  if (e.accuracy) {
    json["accuracy"] = *e.accuracy;
  }
  if (e.auc) {
    json["auc"] = *e.auc;
  }
  return json;
}

Json to_json(const ModeResults& m) {
  Json json{{"mode", m.mode}};
  if (!m.skipped.empty()) {
    json["skipped"] = m.skipped;
    return json;
  }
  json["losses"] = Json::array();
  for (const auto& entry : m.training.losses) {
    json["losses"].push_back({{"iteration", entry.step}, {"loss", entry.loss}});
  }
  if (m.test) {
    json["test"] = to_json(*m.test);
  }
  json["steps"] = m.training.steps;
  json["ms_per_iteration"] = m.training.ms_per_step;
  json["training_seconds"] = m.training.training_seconds;
  json["phases"] = Json::object();
  for (const auto& phase : m.training.phases) {
    json["phases"][phase.name] = phase.mean;
  }
  json["exposed_communication_ms"] = m.training.exposed_ms;
  json["bytes_per_step"] = m.training.bytes_per_step;
  return json;
}

}  // namespace

std::string mode_name(const Options& o) {
  return o.hook == "none" ? o.mode : o.mode == "overlap" ? "hook=" + o.hook : o.mode + " hook=" + o.hook;
}

Configuration configuration(const Options& o, const std::vector<std::size_t>& widths, const Source& source) {
  return {
      {"flags", o.command_line.empty() ? "none" : o.command_line},
      {"data", source.description()},
      {"batch", fmt::format("{} samples over all ranks{}, {} epoch{}", o.batch_size,
                            o.gradient_accumulation > 1 ? fmt::format(" in {} passes", o.gradient_accumulation) : "",
                            o.epochs, o.epochs == 1 ? "" : "s")},
      {"model",
       fmt::format("{} {}, {} parameters, {}", o.model, fmt::join(widths, "-"), parameters(widths), o.precision)},
      {"optimizer", optimizer_text(o)},
      {"mode", o.compare ? "each" : mode_name(o)},
      {"seed", std::to_string(o.seed)},
  };
}

std::string header_text(const Configuration& configuration, int ranks) {
  std::string text = fmt::format("tutti-sgd on {} rank{}\n", ranks, ranks == 1 ? "" : "s");
  for (const auto& [name, value] : configuration) {
    text += fmt::format("  {:<10}{}\n", name, value);
  }
  return text;
}

std::string loss_text(const LossEntry& e, std::uint64_t batches) {
  return fmt::format("Step {}, {}/{} of epoch {}, {:.3f} ms/step, loss {:.6f}\n", e.step, e.batch, batches, e.epoch,
                     e.ms_per_step, e.loss);
}

std::string test_text(const Evaluation& e) {
  std::string text = fmt::format("Test: loss {:.6f}", e.loss);
  if (e.accuracy) {
    text += fmt::format(", accuracy {:.3f} %", 100 * *e.accuracy);
  }
  if (e.auc) {
    text += fmt::format(", AUC {:.6f}", *e.auc);
  }
  return text + fmt::format(" ({} samples)\n", e.samples);
}

std::string phase_text(const TrainingResults& results) {
  double sum = 0;
  for (const auto& phase : results.phases) {
    sum += phase.mean;
  }
  const double whole = std::max(sum, 1e-9);
  std::string text = fmt::format("Trained {} steps in {:.2f} s, median {:.3f} ms a step, {:.0f} bytes a step\n",
                                 results.steps, results.training_seconds, results.ms_per_step, results.bytes_per_step);
  text += fmt::format("  {:<14}{:>10}{:>9}{:>16}\n", "phase", "ms/step", "share", "slowest rank");
  for (const auto& phase : results.phases) {
    text += fmt::format("  {:<14}{:>10.3f}{:>8.1f}%{:>16.3f}{}\n", phase.name, phase.mean, 100 * phase.mean / whole,
                        phase.largest, phase.exposed ? "  exposed" : "");
  }
  return text;
}

std::string compare_text(const std::vector<ModeResults>& modes) {
  std::string text = fmt::format("  {:<18}{:>14}{:>14}{:>12}{:>14}{:>16}\n", "mode", "last loss", "test loss",
                                 "ms/step", "exposed ms", "bytes/step");
  for (const auto& m : modes) {
    if (!m.skipped.empty()) {
      text += fmt::format("  {:<18}left out: {}\n", m.mode, m.skipped);
      continue;
    }
    text += fmt::format("  {:<18}{:>14.6f}{:>14}{:>12.3f}{:>14.3f}{:>16.0f}\n", m.mode,
                        m.training.losses.empty() ? 0.0 : m.training.losses.back().loss,
                        m.test ? fmt::format("{:.6f}", m.test->loss) : "-", m.training.ms_per_step,
                        m.training.exposed_ms, m.training.bytes_per_step);
  }
  return text;
}

void write_json(const std::filesystem::path& path, const Configuration& configuration, int ranks,
                const std::vector<ModeResults>& modes) {
  Json json;
  json["configuration"] = Json::object();
  for (const auto& [name, value] : configuration) {
    json["configuration"][name] = value;
  }
  json["ranks"] = ranks;
  json["modes"] = Json::array();
  for (const auto& mode : modes) {
    json["modes"].push_back(to_json(mode));
  }
  tutti::miniapps::write_text(path, json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n");
}

}  // namespace sgd
