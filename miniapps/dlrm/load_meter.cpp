// SPDX-License-Identifier: BSD-3-Clause
#include "load_meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <tutti/collectives/allgather.hpp>
#include <vector>

namespace dlrm {

namespace {

using Values = std::array<double, 4>;  ///< lookups and distinct rows, counted and predicted

std::string imbalance_text(const std::vector<Values>& loads) {
  std::string text = fmt::format("  {:<6}", "most/mean");
  for (std::size_t k = 0; k < Values().size(); ++k) {
    double most = 0;
    double all = 0;
    for (const Values& load : loads) {
      most = std::max(most, load[k]);
      all += load[k];
    }
    text += fmt::format("{:>{}.2f}", all > 0 ? most * static_cast<double>(loads.size()) / all : 1, k == 0 ? 9 : 12);
  }
  return text + "\n";
}

}  // namespace

void LoadMeter::look(const tutti::EmbeddingCollection& tables, std::size_t slot) {
  ++batches_;
  if (!std::has_single_bit(batches_)) {
    return;
  }
  const tutti::RankLoad load = tables.batch_load(slot);
  sum_.lookups += load.lookups;
  sum_.distinct_rows += load.distinct_rows;
  ++counted_;
}

std::string LoadMeter::text(const tutti::Communicator& comm, const tutti::ShardingPlan& plan) const {
  if (counted_ == 0 || plan.prediction.empty()) {
    return "";
  }
  const auto n = static_cast<double>(counted_);
  const std::array<double, 2> own{sum_.lookups / n, sum_.distinct_rows / n};
  std::vector<double> all(2 * plan.prediction.size());
  tutti::allgather(comm, own, all);
  std::string text = fmt::format("Tables in a batch, counted in {} and predicted\n", counted_);
  text += fmt::format("  {:<6}{:>12}{:>12}{:>12}{:>12}\n", "rank", "lookups", "predicted", "distinct", "predicted");
  std::vector<Values> loads;
  for (std::size_t r = 0; r < plan.prediction.size(); ++r) {
    const auto& predicted = plan.prediction[r];
    const Values& v =
        loads.emplace_back(Values{all[2 * r], predicted.lookups, all[2 * r + 1], predicted.distinct_rows});
    text += fmt::format("  {:<6}{:>12.0f}{:>12.0f}{:>12.0f}{:>12.0f}\n", r, v[0], v[1], v[2], v[3]);
  }
  return text + imbalance_text(loads);
}

}  // namespace dlrm
