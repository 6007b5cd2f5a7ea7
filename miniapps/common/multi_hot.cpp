// SPDX-License-Identifier: BSD-3-Clause
#include "multi_hot.hpp"

#include <fmt/format.h>

#include <tutti/error.hpp>

namespace tutti::miniapps {

namespace {

std::vector<std::uint64_t> rows_of(const DataSource& source, const MultiHotOptions& options) {
  if (!options.rows.empty() && options.rows.size() != source.table_rows().size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("multi-hot bags have rows for {} tables but the data has {}",
                                                         options.rows.size(), source.table_rows().size()));
  }
  return options.rows.empty() ? source.table_rows() : options.rows;
}

MultiHotBags make_bags(const DataSource& source, const MultiHotOptions& options) {
  MultiHotBags bags(rows_of(source, options), options.sizes, options.rule);
  const std::uint64_t bytes = bag_bytes(bags.rows(), bags.sizes());
  if (options.rule == BagRule::numpy && bytes > options.max_bytes) {
    throw Error(ErrorCode::out_of_memory,
                fmt::format("the multi-hot bags of all tables take {:.2f} GB a rank, more than the limit of {:.2f} GB; "
                            "raise --multi-hot-memory, lower --max-ind-range or --arch-embedding-size, or use "
                            "--multi-hot-rule=counter, which "
                            "keeps none but has other bags than MLPerf",
                            static_cast<double>(bytes) / 1e9, static_cast<double>(options.max_bytes) / 1e9));
  }
  return bags;
}

}  // namespace

MultiHot::MultiHot(std::unique_ptr<DataSource> source, MultiHotOptions options)
    : source_(std::move(source)), rule_(options.rule), bags_(make_bags(*source_, options)) {}

std::vector<double> MultiHot::mean_lookups() const { return {bags_.sizes().begin(), bags_.sizes().end()}; }

std::string MultiHot::description() const {
  std::size_t lookups = 0;
  for (const std::size_t size : bags_.sizes()) {
    lookups += size;
  }
  return source_->description() + fmt::format(", {} indices a sample by multi-hot bags of the {} rule", lookups,
                                              rule_ == BagRule::numpy ? "numpy" : "counter");
}

void MultiHot::expand(std::size_t table, const Batch& batch, TableBags& bags) {
  const SampleRange samples = batch.bag_range();
  const std::size_t count = samples.size();
  const std::size_t size = bags_.sizes()[table];
  if (bags.indices.size() != count) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("multi-hot bags need one index a sample, but table {} has {} for {} samples", table,
                            bags.indices.size(), count));
  }
  ids_.swap(bags.indices);
  const auto rows = static_cast<std::int64_t>(bags_.rows()[table]);
  for (std::size_t i = 0; i < count; ++i) {
    if (ids_[i] < 0) {
      throw Error(ErrorCode::index_out_of_range, fmt::format("table {}: index {} of sample {} of the batch is negative",
                                                             table, ids_[i], samples.begin + i));
    }
    ids_[i] %= rows;
  }
  bags.indices.resize(count * size);
  bags_.expand(table, ids_, bags.indices);
  for (std::size_t i = 0; i <= count; ++i) {
    bags.offsets[i] = static_cast<std::int64_t>(i * size);
  }
}

void MultiHot::read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) {
  source_->read(split, batch_size, k, part, batch);
  for (std::size_t i = 0; i < part.tables.size(); ++i) {
    expand(part.tables[i], batch, batch.tables[i]);
  }
}

}  // namespace tutti::miniapps
