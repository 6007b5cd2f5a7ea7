// SPDX-License-Identifier: BSD-3-Clause
#include "placement.hpp"

#include <algorithm>
#include <numeric>

namespace dlrm {

tutti::miniapps::SampleRange batch_slice(std::size_t batch, int rank, int ranks) {
  const auto r = static_cast<std::size_t>(rank);
  const auto n = static_cast<std::size_t>(ranks);
  return {r * batch / n, (r + 1) * batch / n};
}

namespace {

std::vector<double> shares(const std::vector<TableCost>& tables) {
  double bytes = 0;
  double lookups = 0;
  for (const auto& t : tables) {
    bytes += t.bytes;
    lookups += t.lookups;
  }
  std::vector<double> cost;
  cost.reserve(tables.size());
  for (const auto& t : tables) {
    cost.push_back((bytes > 0 ? t.bytes / bytes : 0) + (lookups > 0 ? t.lookups / lookups : 0));
  }
  return cost;
}

}  // namespace

Placement::Placement(const std::vector<TableCost>& tables, int ranks)
    : owner_(tables.size(), 0), tables_(static_cast<std::size_t>(ranks)) {
  const auto cost = shares(tables);
  std::vector<std::size_t> order(tables.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cost[a] > cost[b]; });
  std::vector<double> load(tables_.size(), 0.0);
  for (const std::size_t t : order) {
    const auto least = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    load[least] += cost[t];
    owner_[t] = static_cast<int>(least);
    tables_[least].push_back(t);
  }
  for (auto& mine : tables_) {
    std::sort(mine.begin(), mine.end());
  }
}

}  // namespace dlrm
