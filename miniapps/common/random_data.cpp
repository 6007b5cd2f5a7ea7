// SPDX-License-Identifier: BSD-3-Clause
#include "random_data.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
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

std::size_t RandomData::draw_count(NumpyRandom& random, std::uint64_t rows) const {
  if (options_.indices_per_lookup_fixed) {
    return options_.indices_per_lookup;
  }
  const double most = std::min(static_cast<double>(rows), static_cast<double>(options_.indices_per_lookup));
  return static_cast<std::size_t>(std::nearbyint(std::max(1.0, random.random_sample() * most)));
}

void RandomData::draw_uniform(NumpyRandom& random, std::uint64_t rows, std::vector<std::int64_t>& indices) {
  values_.resize(draw_count(random, rows));
  random.fill_samples(values_);
  bag_.resize(values_.size());
  const auto largest = static_cast<double>(rows - 1);
  std::transform(values_.begin(), values_.end(), bag_.begin(),
                 [largest](double v) { return static_cast<std::int64_t>(std::nearbyint(v * largest)); });
  sorter_.append(bag_, rows, indices);
}

/// Numbers differ before they are cut to whole ones, so that a bag may name a row twice.
void RandomData::draw_gaussian(NumpyRandom& random, std::uint64_t rows, std::vector<std::int64_t>& indices) {
  values_.resize(draw_count(random, rows));
  for (double& v : values_) {
    v = std::min(std::max(random.normal(options_.mu, options_.sigma), options_.min), options_.max);
  }
  std::sort(values_.begin(), values_.end());
  values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  std::transform(values_.begin(), values_.end(), std::back_inserter(indices),
                 [](double v) { return static_cast<std::int64_t>(v); });
}

void RandomData::skip_bags(NumpyRandom& random, std::uint64_t rows, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t indices = draw_count(random, rows);
    if (!options_.gaussian) {
      random.skip_samples(indices);
      continue;
    }
    for (std::size_t j = 0; j < indices; ++j) {
      (void)random.normal(0, 1);
    }
  }
}

void RandomData::draw_bags(NumpyRandom& random, std::uint64_t rows, std::size_t count, TableBags& bags) {
  bags.offsets.assign(1, 0);
  bags.indices.clear();
  for (std::size_t i = 0; i < count; ++i) {
    options_.gaussian ? draw_gaussian(random, rows, bags.indices) : draw_uniform(random, rows, bags.indices);
    bags.offsets.push_back(static_cast<std::int64_t>(bags.indices.size()));
  }
}

void RandomData::draw(NumpyRandom& random, std::span<const std::size_t> tables, Batch& batch) {
  const std::size_t count = batch.count;
  const SampleRange range = batch.range;
  random.skip_samples(range.begin * options_.dense_features);
  random.fill_uniform(batch.dense, 0, 1);
  random.skip_samples((count - range.end) * options_.dense_features);
  const SampleRange bagged = batch.bag_range();
  std::size_t next = 0;
  for (std::size_t t = 0; t < options_.table_rows.size(); ++t) {
    const std::uint64_t rows = options_.table_rows[t];
    if (next == tables.size() || tables[next] != t) {
      skip_bags(random, rows, count);
      continue;
    }
    skip_bags(random, rows, bagged.begin);
    draw_bags(random, rows, bagged.size(), batch.tables[next++]);
    skip_bags(random, rows, count - bagged.end);
  }
  random.skip_samples(range.begin);
  random.fill_uniform(batch.labels, 0, 1);
  random.skip_samples(count - range.end);
  if (options_.round_targets) {
    std::transform(batch.labels.begin(), batch.labels.end(), batch.labels.begin(),
                   [](float label) { return std::nearbyint(label); });
  }
}

void RandomData::read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) {
  begin_read(split, batch_size, k, part, batch);
  Stream& s = streams_[split == Split::train ? 0 : 1];
  if (k == 0 || k < s.next || batch_size != s.batch_size) {
    s.random.seed(options_.seed);
    s.next = 0;
    s.batch_size = batch_size;
  }
  for (; s.next < k; ++s.next) {
    Batch nothing;
    nothing.count = batch_count(split, batch_size, s.next);
    draw(s.random, {}, nothing);
  }
  draw(s.random, part.tables, batch);
  ++s.next;
}

}  // namespace tutti::miniapps
