// SPDX-License-Identifier: BSD-3-Clause
#include "breakdown.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sgd {

namespace {

bool is_counterpart(const Method& method, const Method& overlapping) {
  return method.mode == "bucketed" && method.hook == overlapping.hook;
}

}  // namespace

std::vector<Method> breakdown_methods(const std::vector<Method>& methods) {
  std::vector<Method> all = methods;
  for (const Method& method : methods) {
    const bool is_there =
        std::any_of(all.begin(), all.end(), [&](const Method& other) { return is_counterpart(other, method); });
    if (method.mode != "overlap" || is_there) continue;
    all.push_back(method);
    all.back().mode = "bucketed";
    all.back().name = "bucketed for " + method.name;
  }
  return all;
}

std::vector<BreakdownRow> breakdown_rows(const std::vector<Figures>& figures, std::size_t count) {
  std::vector<BreakdownRow> rows;
  for (std::size_t i = 0; i < std::min(count, figures.size()); ++i) {
    const Figures& f = figures[i];
    const double exposed = std::max(0.0, f.exposed);
    BreakdownRow row{f.method.name, f.forward, f.backward, exposed, exposed, f.update};
    if (f.method.mode == "overlap") {
      const auto alone = std::find_if(figures.begin(), figures.end(),
                                      [&](const Figures& other) { return is_counterpart(other.method, f.method); });
      if (alone != figures.end()) row.communication = std::max(exposed, alone->exposed);
    }
    rows.push_back(row);
  }
  return rows;
}

std::string breakdown_text(const std::vector<BreakdownRow>& rows) {
  std::string text = fmt::format("{:<18}{:>9}{:>10}{:>15}{:>9}{:>9}{:>9}{:>10}\n", "milliseconds", "forward",
                                 "backward", "communication", "exposed", "hidden", "update", "step");
  for (const BreakdownRow& row : rows) {
    const std::string hidden =
        row.communication > 0 ? fmt::format("{:.0f} %", 100 * row.hidden() / row.communication) : "";
    text += fmt::format("{:<18}{:>9.2f}{:>10.2f}{:>15.2f}{:>9.2f}{:>9}{:>9.2f}{:>10.2f}\n", row.name, row.forward,
                        row.backward, row.communication, row.exposed, hidden, row.update, row.step());
  }
  return text;
}

}  // namespace sgd
