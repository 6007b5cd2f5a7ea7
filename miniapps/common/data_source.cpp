// SPDX-License-Identifier: BSD-3-Clause
#include "data_source.hpp"

#include <algorithm>
#include <numeric>
#include <tutti/error.hpp>

namespace tutti::miniapps {

const char* split_name(Split split) {
  switch (split) {
    case Split::train:
      return "training";
    case Split::test:
      return "test";
    case Split::validation:
      return "validation";
  }
  return "unknown";
}

std::size_t DataSource::batch_count(Split split, std::size_t batch_size, std::uint64_t k) const {
  const std::uint64_t all = samples(split);
  const std::uint64_t first = k * batch_size;
  return first >= all ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(batch_size, all - first));
}

void DataSource::begin_read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part,
                            Batch& batch) const {
  if (batch_size == 0 || k >= batches(split, batch_size)) {
    throw Error(ErrorCode::invalid_argument, "there is no batch " + std::to_string(k) + " of " +
                                                 std::to_string(batch_size) + " samples in " +
                                                 std::to_string(samples(split)) + " " + split_name(split) + " samples");
  }
  const auto& [range, tables, bags] = part;
  const std::size_t count = batch_count(split, batch_size, k);
  if (range.begin > range.end || range.end > count) {
    throw Error(ErrorCode::invalid_argument, "range " + std::to_string(range.begin) + " to " +
                                                 std::to_string(range.end) + " is not within a batch of " +
                                                 std::to_string(count));
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (tables[i] >= table_rows().size() || (i > 0 && tables[i] <= tables[i - 1])) {
      throw Error(ErrorCode::invalid_argument,
                  "table numbers must ascend and be below " + std::to_string(table_rows().size()));
    }
  }
  batch.count = count;
  batch.range = range;
  batch.bags = bags;
  batch.dense.resize(range.size() * dense_features());
  batch.labels.resize(range.size());
  batch.tables.resize(tables.size());
}

std::span<std::int64_t> make_one_hot(TableBags& bags, std::size_t samples) {
  bags.offsets.resize(samples + 1);
  std::iota(bags.offsets.begin(), bags.offsets.end(), std::int64_t{0});
  bags.indices.resize(samples);
  return bags.indices;
}

}  // namespace tutti::miniapps
