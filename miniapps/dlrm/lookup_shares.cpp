// SPDX-License-Identifier: BSD-3-Clause
#include "tables.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace dlrm {

namespace mini = tutti::miniapps;

namespace {

constexpr std::uint64_t most_batches = 64;
constexpr std::size_t least_read = 128;

/// Empty where nothing is looked up.
std::vector<double> shares_of(std::span<const std::int64_t> lookups, std::size_t rows) {
  std::vector<double> shares(lookups.empty() ? 0 : mini::lookup_blocks(rows));
  for (const std::int64_t row : lookups) {
    ++shares.at(mini::lookup_block(static_cast<std::uint64_t>(row), rows));
  }
  return shares;
}

}  // namespace

// Ids are often numbered as they appear, so that the first samples have small ones alone.
std::vector<mini::LookupCounts> count_lookups(mini::DataSource& source, std::span<const std::size_t> rows,
                                              std::size_t batch) {
  std::vector<mini::LookupCounts> counts = source.lookup_counts();
  if (!counts.empty() && std::ranges::equal(rows, source.table_rows())) {
    return counts;
  }
  counts.assign(rows.size(), {});
  std::vector<std::vector<std::int64_t>> found(rows.size());
  // Four batches in all, because a sample that is shorter than a batch does not tell how many rows are rare.
  const std::size_t batch_size = std::max(least_read, 4 * batch / most_batches);
  std::vector<std::size_t> tables(rows.size());
  std::iota(tables.begin(), tables.end(), std::size_t{0});
  const std::uint64_t batches = source.batches(mini::Split::train, batch_size);
  const std::uint64_t read = std::min(batches, most_batches);
  mini::Batch samples;
  for (std::uint64_t i = 0; i < read; ++i) {
    source.read(mini::Split::train, batch_size, i * batches / read, {{}, tables}, samples);
    for (const std::size_t t : tables) {
      const auto& indices = samples.tables[t].indices;
      found[t].insert(found[t].end(), indices.begin(), indices.end());
    }
  }
  for (const std::size_t t : tables) {
    counts[t].shares = shares_of(found[t], rows[t]);
    counts[t].frequencies = tutti::count_rows(std::move(found[t]));
  }
  return counts;
}

}  // namespace dlrm
