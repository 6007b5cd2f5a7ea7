// SPDX-License-Identifier: BSD-3-Clause
#include "workload_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sgd {

std::string methods_text(const std::vector<Figures>& figures) {
  const auto flat =
      std::find_if(figures.begin(), figures.end(), [](const Figures& f) { return f.method.mode == "flat"; });
  std::string text = fmt::format("{:<18}{:>10}{:>13}{:>11}{:>9}{:>13}\n", "mode", "step ms", "exposed ms", "of flat's",
                                 "buckets", "MB per step");
  for (const Figures& f : figures) {
    const bool has_share = flat != figures.end() && flat->exposed > 0 && f.method.mode != "none";
    text += fmt::format("{:<18}{:>10.2f}{:>13.2f}{:>11}{:>9}{:>13.1f}\n", f.method.name, f.step, f.exposed,
                        has_share ? fmt::format("{:.1f} %", 100 * f.exposed / flat->exposed) : "",
                        f.buckets == 0 ? "" : std::to_string(f.buckets), f.bytes_per_step * 1e-6);
  }
  return text;
}

std::string checked_text(std::size_t wrong) {
  if (wrong == 0) return "every element of the last averages is right\n";
  return fmt::format("{} elements of the last averages are WRONG\n", wrong);
}

nlohmann::ordered_json to_json(const Figures& f) {
  nlohmann::ordered_json json;
  json["mode"] = f.method.name;
  json["step_ms"] = f.step;
  json["exposed_ms"] = f.exposed;
  json["forward_ms"] = f.forward;
  json["backward_ms"] = f.backward;
  json["update_ms"] = f.update;
  json["bytes_per_step"] = f.bytes_per_step;
  if (f.method.has_buckets()) {
    json["buckets"] = f.buckets;
    json["bucket_bytes"] = f.bucket_bytes;
  }
  return json;
}

std::size_t wrong_in(const std::vector<Figures>& figures) {
  std::size_t wrong = 0;
  for (const Figures& f : figures) wrong += f.wrong;
  return wrong;
}

}  // namespace sgd
