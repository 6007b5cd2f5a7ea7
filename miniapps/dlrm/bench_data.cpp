// SPDX-License-Identifier: BSD-3-Clause
#include "bench_data.hpp"

#include <algorithm>

#include "streams.hpp"

namespace dlrm {

namespace mini = tutti::miniapps;

namespace {

// Streams 0, 1, ... are the tables'.
constexpr std::uint64_t dense_stream = 1U << 30U;
constexpr std::uint64_t label_stream = dense_stream + 1;

std::int64_t below(std::uint64_t bits, std::uint64_t rows) {
  return static_cast<std::int64_t>((bits >> 32U) * rows >> 32U);
}

}  // namespace

BenchData::BenchData(std::uint64_t samples, std::size_t dense_features, std::vector<std::uint64_t> table_rows,
                     std::vector<std::size_t> indices_per_lookup, std::uint32_t seed)
    : samples_(samples),
      dense_features_(dense_features),
      rows_(std::move(table_rows)),
      indices_(std::move(indices_per_lookup)),
      seed_(seed) {}

std::vector<double> BenchData::mean_lookups() const { return {indices_.begin(), indices_.end()}; }

std::uint64_t BenchData::samples(mini::Split split) const { return split == mini::Split::train ? samples_ : 0; }

std::string BenchData::description() const {
  const auto [least, most] = std::minmax_element(indices_.begin(), indices_.end());
  return "prepared random batches, " + std::to_string(*least) +
         (*least == *most ? "" : " to " + std::to_string(*most)) + " indices a bag";
}

void BenchData::fill_table(std::size_t table, std::uint64_t first_sample, std::size_t count, mini::TableBags& bags) {
  const std::size_t indices = indices_[table];
  const std::uint64_t start = stream_start(seed_, table) + first_sample * indices;
  bags.offsets.resize(count + 1);
  bags.indices.resize(count * indices);
  for (std::size_t s = 0; s <= count; ++s) {
    bags.offsets[s] = static_cast<std::int64_t>(s * indices);
  }
  for (std::size_t i = 0; i < bags.indices.size(); ++i) {
    bags.indices[i] = below(mini::mix_counter(start + i), rows_[table]);
  }
}

void BenchData::read(mini::Split split, std::size_t batch_size, std::uint64_t k, const mini::BatchPart& part,
                     mini::Batch& batch) {
  begin_read(split, batch_size, k, part, batch);
  const std::uint64_t first = k * batch_size;
  const std::uint64_t first_own = first + batch.range.begin;
  const std::uint64_t dense = stream_start(seed_, dense_stream) + first_own * dense_features_;
  for (std::size_t i = 0; i < batch.dense.size(); ++i) {
    batch.dense[i] = unit_float(mini::mix_counter(dense + i));
  }
  for (std::size_t i = 0; i < batch.labels.size(); ++i) {
    batch.labels[i] = static_cast<float>(mini::mix_counter(stream_start(seed_, label_stream) + first_own + i) >> 63U);
  }
  const mini::SampleRange bagged = batch.bag_range();
  for (std::size_t i = 0; i < part.tables.size(); ++i) {
    fill_table(part.tables[i], first + bagged.begin, bagged.size(), batch.tables[i]);
  }
}

}  // namespace dlrm
