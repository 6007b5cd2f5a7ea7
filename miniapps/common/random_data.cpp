// SPDX-License-Identifier: BSD-3-Clause
#include "random_data.hpp"

#include <algorithm>
#include <cmath>
#include <tutti/error.hpp>

namespace tutti::miniapps {

RandomData::RandomData(RandomDataOptions options)
    : options_(std::move(options)), streams_(2, Stream{NumpyRandom(options_.seed)}) {
  if (options_.samples == 0 || options_.indices_per_lookup == 0 ||
      std::find(options_.table_rows.begin(), options_.table_rows.end(), 0U) != options_.table_rows.end()) {
    throw Error(ErrorCode::invalid_argument, "random data: samples, rows and indices per lookup must be above 0");
  }
  if (options_.mu == -1) {
    options_.mu = (options_.max + options_.min) / 2.0;
  }
}

std::vector<double> RandomData::mean_lookups() const {
  std::vector<double> means;
  for (const std::uint64_t rows : options_.table_rows) {
    const auto most = static_cast<double>(std::min<std::uint64_t>(rows, options_.indices_per_lookup));
    means.push_back(options_.indices_per_lookup_fixed ? static_cast<double>(options_.indices_per_lookup)
                                                      : (most + 1.0) / 2.0);
  }
  return means;
}

std::string RandomData::description() const {
  return "random data, " + std::to_string(options_.samples) + " samples, seed " + std::to_string(options_.seed);
}

void RandomData::draw_bag(NumpyRandom& random, std::uint64_t rows) {
  auto count = static_cast<double>(options_.indices_per_lookup);
  if (!options_.indices_per_lookup_fixed) {
    const double most = std::min(static_cast<double>(rows), count);
    count = std::nearbyint(std::max(1.0, random.random_sample() * most));
  }
  values_.resize(static_cast<std::size_t>(count));
  for (double& v : values_) {
    v = options_.gaussian ? std::min(std::max(random.normal(options_.mu, options_.sigma), options_.min), options_.max)
                          : std::nearbyint(random.random_sample() * static_cast<double>(rows - 1));
  }
  std::sort(values_.begin(), values_.end());
  values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  bag_.assign(values_.size(), 0);
  std::transform(values_.begin(), values_.end(), bag_.begin(), [](double v) { return static_cast<std::int64_t>(v); });
}

void RandomData::draw(NumpyRandom& random, std::size_t count, SampleRange range, std::span<const std::size_t> tables,
                      Batch& batch) {
  batch.count = count;
  batch.range = range;
  batch.dense.clear();
  batch.labels.clear();
  batch.tables.resize(tables.size());
  const auto mine = [&](std::size_t i) { return i >= range.begin && i < range.end; };
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < options_.dense_features; ++j) {
      const auto value = static_cast<float>(random.random_sample());
      if (mine(i)) {
        batch.dense.push_back(value);
      }
    }
  }
  std::size_t next = 0;
  for (std::size_t t = 0; t < options_.table_rows.size(); ++t) {
    TableBags* bags = next < tables.size() && tables[next] == t ? &batch.tables[next++] : nullptr;
    if (bags != nullptr) {
      bags->offsets.assign(1, 0);
      bags->indices.clear();
    }
    for (std::size_t i = 0; i < count; ++i) {
      draw_bag(random, options_.table_rows[t]);
      if (bags != nullptr) {
        bags->indices.insert(bags->indices.end(), bag_.begin(), bag_.end());
        bags->offsets.push_back(static_cast<std::int64_t>(bags->indices.size()));
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(random.random_sample());
    if (mine(i)) {
      batch.labels.push_back(options_.round_targets ? std::nearbyint(value) : value);
    }
  }
}

void RandomData::read(Split split, std::size_t batch_size, std::uint64_t k, SampleRange range,
                      std::span<const std::size_t> tables, Batch& batch) {
  const std::size_t count = check_read(split, batch_size, k, range, tables);
  Stream& s = streams_[split == Split::train ? 0 : 1];
  if (k == 0 || k < s.next || batch_size != s.batch_size) {
    s.random.seed(options_.seed);
    s.next = 0;
    s.batch_size = batch_size;
  }
  for (; s.next < k; ++s.next) {
    draw(s.random, batch_count(split, batch_size, s.next), {}, {}, batch);
  }
  draw(s.random, count, range, tables, batch);
  ++s.next;
}

}  // namespace tutti::miniapps
