// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>

#include "tools/doctor/rules.hpp"

namespace tutti::tools::doctor {
namespace {

std::optional<Finding> table(const Job& job) {
  if (job.size() == 1 || job.tuning.status == Tuning::Status::found) return std::nullopt;
  if (job.tuning.status == Tuning::Status::refused)
    return Finding{Severity::error, "table", "the table of measured times cannot be used: " + job.tuning.report,
                   "name another file by TUTTI_TUNING, unset it, or measure anew: tutti tune --restart"};
  const std::string why = job.tuning.report.empty() ? "" : " (" + job.tuning.report + ")";
  return Finding{Severity::note, "table", "no table of measured times fits: calls are chosen by models" + why,
                 fmt::format("mpiexec -n {} tutti tune, on the idle machine", job.size())};
}

std::optional<Finding> calibration_off(const Job& job) {
  const auto& variables = job.ranks.front().variables;
  const auto found = variables.find("TUTTI_CALIBRATION");
  if (found == variables.end() || found->second != "off") return std::nullopt;
  return Finding{Severity::note, "calibration",
                 "TUTTI_CALIBRATION=off: the models know typical costs, not this machine's", "unset TUTTI_CALIBRATION"};
}

std::optional<Finding> calibration_disturbed(const Job& job) {
  if (job.made.costs_report.find("other work") == std::string::npos) return std::nullopt;
  return Finding{Severity::slow, "disturbed",
                 fmt::format("other work runs on the ranks' cores (costs: {})", job.made.costs_report),
                 "end it, or bind ranks to cores of their own; then run tutti doctor again"};
}

/// One node with a core for every rank is measured, so its costs should be known.
std::optional<Finding> calibration_missing(const Job& job) {
  const bool is_measurable = job.made.is_made && job.size() > 1 && job.topology.nodes == 1 &&
                             !job.topology.oversubscribed && !calibration_off(job);
  if (!is_measurable || !job.made.costs_report.starts_with("the prior")) return std::nullopt;
  return Finding{Severity::note, "calibration", "the costs of this machine are not known: " + job.made.costs_report,
                 "run once with TUTTI_CALIBRATION=now, or unset TUTTI_CALIBRATION"};
}

}  // namespace

std::span<const Rule> cost_rules() {
  static constexpr std::array<Rule, 4> all = {table, calibration_off, calibration_disturbed, calibration_missing};
  return all;
}

}  // namespace tutti::tools::doctor
