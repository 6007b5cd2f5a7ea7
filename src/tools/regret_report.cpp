// SPDX-License-Identifier: BSD-3-Clause
#include "tools/regret_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "planner/names.hpp"
#include "tools/units.hpp"
#include "topology/columns.hpp"

namespace tutti::tools {
namespace {

using detail::tuning::Regret;
using detail::tuning::RegretSummary;
using nlohmann::ordered_json;

std::vector<std::string> row_of(const Regret& regret) {
  return {detail::tuning::describe(regret.target),
          regret.chosen,
          seconds_text(regret.seconds.at(regret.chosen)),
          regret.best,
          seconds_text(regret.seconds.at(regret.best)),
          fmt::format("{:.2f}", regret.ratio),
          fmt::format("{:.2f} - {:.2f}{}", regret.interval.low, regret.interval.high, regret.confirmed ? " *" : "")};
}

std::string summary_text(const RegretReport& report) {
  const RegretSummary summary = detail::tuning::summary_of(report.regrets);
  if (summary.cells == 0) return "no cell was measured\n";
  const Regret& worst = report.regrets.front();
  return fmt::format(
      "the choice takes at most {:.2f} times as long as the best way in {} of {} cells ({:.1f} %), and certainly "
      "longer "
      "in {}; the worst: {:.2f}, {}; geometric mean {:.3f}\n",
      detail::tuning::believed, summary.near, summary.cells,
      100.0 * static_cast<double>(summary.near) / static_cast<double>(summary.cells), summary.certain, worst.ratio,
      detail::tuning::describe(worst.target), summary.mean);
}

ordered_json json_of(const Regret& regret) {
  const auto& target = regret.target;
  ordered_json cell = {{"operation", operation_name(target.operation)},
                       {"kind", detail::tuning::call_kind_name(target.kind)}};
  if (combines(target.operation)) cell["type"] = datatype_name(target.type.kind());
  cell.update({{"bytes", target.bytes},
               {"chosen", regret.chosen},
               {"best", regret.best},
               {"ratio", regret.ratio},
               {"interval", {regret.interval.low, regret.interval.high}},
               {"confirmed", regret.confirmed},
               {"seconds", regret.seconds}});
  return cell;
}

ordered_json json_of(const RegretSummary& summary) {
  return {{"cells", summary.cells},
          {"near", summary.near},
          {"near_ratio", detail::tuning::believed},
          {"certainly_slower", summary.certain},
          {"geometric_mean", summary.mean}};
}

}  // namespace

std::string regret_text(const RegretReport& report, std::size_t rows) {
  detail::TextRows table = {{"call", "chosen", "time", "best", "time", "ratio", "95 % interval"}};
  for (std::size_t i = 0; i < std::min(rows, report.regrets.size()); ++i) table.push_back(row_of(report.regrets[i]));
  std::string text = report.regrets.empty() ? "" : detail::in_columns(table) + "\n";
  if (std::ranges::any_of(report.regrets, &Regret::confirmed))
    text += "* measured again, by the nearest rivals alone\n";
  text += summary_text(report);
  if (report.left > 0) text += fmt::format("{} cells left: the budget is spent\n", report.left);
  return text;
}

std::string regret_json(const RegretReport& report) {
  ordered_json cells = ordered_json::array();
  for (const Regret& regret : report.regrets) cells.push_back(json_of(regret));
  const auto& machine = report.machine;
  const ordered_json value = {{"machine",
                               {{"ranks", machine.ranks},
                                {"ranks_per_node", machine.ranks_per_node},
                                {"cores_per_node", machine.cores_per_node},
                                {"cpu", machine.cpu},
                                {"mpi", machine.mpi}}},
                              {"summary", json_of(detail::tuning::summary_of(report.regrets))},
                              {"left", report.left},
                              {"cells", std::move(cells)}};
  return value.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::tools
