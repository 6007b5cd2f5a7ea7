// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>
#include <tutti/error.hpp>

#include "common/adult.hpp"
#include "common/csv.hpp"
#include "csv_features.hpp"
#include "generated_source.hpp"
#include "source.hpp"
#include "table_source.hpp"

namespace sgd {

namespace mini = tutti::miniapps;

namespace {

/// Dense features and one feature for each row of each table, of all samples of a split.
SparseSamples expand(mini::Adult& adult, Split split) {
  const std::size_t n = adult.samples(split);
  const std::size_t dense = adult.dense_features();
  std::vector<std::size_t> tables(adult.table_rows().size());
  std::iota(tables.begin(), tables.end(), 0U);
  mini::Batch batch;
  adult.read(split, n, 0, {{0, n}, tables}, batch);
  SparseSamples out;
  out.width = std::accumulate(adult.table_rows().begin(), adult.table_rows().end(), dense);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < dense; ++j) {
      out.columns.push_back(static_cast<std::uint32_t>(j));
      out.values.push_back(static_cast<double>(batch.dense[i * dense + j]));
    }
    std::size_t first = dense;
    for (const std::size_t t : tables) {
      out.columns.push_back(static_cast<std::uint32_t>(first + static_cast<std::size_t>(batch.tables[t].indices[i])));
      out.values.push_back(1);
      first += adult.table_rows()[t];
    }
    out.offsets.push_back(out.columns.size());
    out.labels.push_back(static_cast<double>(batch.labels[i]));
  }
  return out;
}

std::unique_ptr<Source> adult_source(const Options& o) {
  mini::Adult adult(static_cast<std::uint32_t>(o.seed), o.train_file);
  const std::size_t classes = o.model == "linear" ? 0 : 2;
  auto train = expand(adult, Split::train);
  return std::make_unique<TableSource>("Adult census data", classes, std::move(train), expand(adult, Split::test));
}

std::unique_ptr<Source> file_source(const Options& o, SparseSamples train, SparseSamples test) {
  const std::size_t samples = train.labels.size();
  if (o.test_file.empty()) {
    test = split_off(train, o.test_share, o.seed);
  }
  if (train.labels.empty()) {
    throw tutti::Error(tutti::ErrorCode::io,
                       o.train_file + ": all " + std::to_string(samples) +
                           " samples went into the test part; add samples, or lower --test-share");
  }
  const std::size_t classes = o.model == "linear" ? 0 : number_classes(o.train_file, train.labels, test.labels);
  return std::make_unique<TableSource>(o.train_file, classes, std::move(train), std::move(test));
}

std::unique_ptr<Source> libsvm_source(const Options& o) {
  auto train = mini::read_libsvm(o.train_file);
  return file_source(o, std::move(train), o.test_file.empty() ? SparseSamples{} : mini::read_libsvm(o.test_file));
}

std::unique_ptr<Source> csv_source(const Options& o) {
  const auto table = mini::read_csv(o.train_file, o.csv_header);
  const CsvFeatures features(table, o.label);
  auto train = features.convert(table);
  return file_source(
      o, std::move(train),
      o.test_file.empty() ? SparseSamples{} : features.convert(mini::read_csv(o.test_file, o.csv_header)));
}

std::unique_ptr<Source> generated_source(const Options& o) {
  GeneratedShape shape;
  shape.samples = o.samples;
  shape.features = o.features;
  shape.classes = o.classes;
  shape.noise = o.noise;
  shape.seed = o.seed;
  shape.target = o.model == "linear"     ? Target::number
                 : o.model == "logistic" ? Target::two_classes
                                         : Target::many_classes;
  return std::make_unique<GeneratedSource>(shape);
}

}  // namespace

std::unique_ptr<Source> make_source(const Options& options) {
  if (options.data == "generated") {
    return generated_source(options);
  }
  if (options.data == "libsvm") {
    return libsvm_source(options);
  }
  return options.data == "csv" ? csv_source(options) : adult_source(options);
}

}  // namespace sgd
