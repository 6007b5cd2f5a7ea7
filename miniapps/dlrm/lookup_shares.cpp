// SPDX-License-Identifier: BSD-3-Clause
#include "tables.hpp"

#include <algorithm>
#include <numeric>

namespace dlrm {

namespace mini = tutti::miniapps;

namespace {

constexpr std::size_t most_blocks = 1024;
constexpr std::uint64_t most_batches = 64;
constexpr std::size_t batch_size = 128;

}  // namespace

// Ids are often numbered as they appear, so that the first samples have small ones alone.
std::vector<std::vector<double>> count_lookups(mini::DataSource& source, std::span<const std::size_t> rows) {
  std::vector<std::vector<double>> counts;
  for (const std::size_t each : rows) {
    counts.emplace_back(std::min(each, most_blocks));
  }
  std::vector<std::size_t> tables(rows.size());
  std::iota(tables.begin(), tables.end(), std::size_t{0});
  const std::uint64_t batches = source.batches(mini::Split::train, batch_size);
  const std::uint64_t read = std::min(batches, most_batches);
  mini::Batch batch;
  for (std::uint64_t i = 0; i < read; ++i) {
    source.read(mini::Split::train, batch_size, i * batches / read, {{}, tables}, batch);
    for (const std::size_t t : tables) {
      for (const std::int64_t index : batch.tables[t].indices) {
        ++counts[t].at(static_cast<std::size_t>(index) * counts[t].size() / rows[t]);
      }
    }
  }
  for (std::vector<double>& each : counts) {
    if (std::all_of(each.begin(), each.end(), [](double count) { return count == 0; })) {
      each.clear();
    }
  }
  return counts;
}

}  // namespace dlrm
