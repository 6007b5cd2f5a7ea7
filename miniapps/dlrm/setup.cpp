// SPDX-License-Identifier: BSD-3-Clause
#include "setup.hpp"

#include <algorithm>
#include <tutti/error.hpp>

#include "bench_data.hpp"
#include "checkpointing.hpp"
#include "common/adult.hpp"
#include "common/criteo_binary.hpp"
#include "common/criteo_text.hpp"
#include "common/day_arrays.hpp"
#include "common/multi_hot.hpp"
#include "common/parquet_source.hpp"
#include "common/random_data.hpp"
#include "common/test_file.hpp"

namespace dlrm {

namespace mini = tutti::miniapps;

namespace {

std::vector<std::uint64_t> given_rows(const Options& o) { return {o.embedding_size.begin(), o.embedding_size.end()}; }

std::uint64_t sample_count(const Options& o) {
  return o.num_batches > 0 ? o.num_batches * o.mini_batch_size : o.data_size;
}

std::unique_ptr<mini::DataSource> bench_source(const Options& o) {
  const auto indices = o.indices_per_feature.empty()
                           ? std::vector<std::size_t>(o.embedding_size.size(), o.indices_per_lookup)
                           : o.indices_per_feature;
  return std::make_unique<BenchData>(sample_count(o), o.mlp_bot.front(), given_rows(o), indices, o.seed);
}

std::unique_ptr<mini::DataSource> random_source(const Options& o) {
  mini::RandomDataOptions r;
  r.samples = sample_count(o);
  r.dense_features = o.mlp_bot.front();
  r.table_rows = given_rows(o);
  r.indices_per_lookup = o.indices_per_lookup;
  r.indices_per_lookup_fixed = o.indices_per_lookup_fixed;
  r.gaussian = o.rand_data_dist == "gaussian";
  r.min = o.rand_data_min;
  r.max = o.rand_data_max;
  r.mu = o.rand_data_mu;
  r.sigma = o.rand_data_sigma;
  r.round_targets = o.round_targets;
  r.seed = o.seed;
  return std::make_unique<mini::RandomData>(r);
}

mini::CriteoTextOptions text_options(const Options& o, const std::string& file) {
  mini::CriteoTextOptions t;
  t.file = file;
  t.shuffle = mini::shuffle_kind(data_order(o));
  t.max_ind_range = o.max_ind_range;
  t.max_bad_lines = o.max_bad_lines;
  t.seed = o.seed;
  return t;
}

/// The categories are numbered as in the checkpoint, then as in training, then those of the test file alone.
std::unique_ptr<mini::DataSource> text_source(const Options& o) {
  mini::CategoryValues known = saved_categories(o);
  std::unique_ptr<mini::DataSource> train;
  if (!o.raw_data_file.empty()) {
    auto t = text_options(o, o.raw_data_file);
    t.sub_sample_rate = o.data_sub_sample_rate;
    t.known = std::move(known);
    train = std::make_unique<mini::CriteoText>(std::move(t));
    if (o.test_data_file.empty()) {
      return train;
    }
    known = train->categories();
  }
  auto t = text_options(o, o.test_data_file);
  t.shuffle = mini::Shuffle::none;
  t.all_test = true;
  t.known = std::move(known);
  return std::make_unique<mini::WithTestFile>(std::move(train), std::make_unique<mini::CriteoText>(std::move(t)));
}

std::unique_ptr<mini::DataSource> data_set(const Options& o, std::vector<std::uint64_t> file_rows) {
  if (o.data_set == "adult") {
    return std::make_unique<mini::Adult>(o.seed, o.raw_data_file);
  }
  if (o.day_files) {
    return std::make_unique<mini::DayArrays>(mini::DayArraysOptions{
        o.processed_data_file, o.max_ind_range, mini::shuffle_kind(data_order(o)), o.seed, std::move(file_rows)});
  }
  if (o.parquet) {
    return std::make_unique<mini::ParquetSource>(
        mini::ParquetSourceOptions{o.processed_data_file, o.parquet_names, o.max_ind_range,
                                   mini::shuffle_kind(data_order(o)), o.seed, std::move(file_rows)});
  }
  if (reads_binary(o)) {
    return std::make_unique<mini::CriteoBinary>(mini::CriteoBinaryOptions{
        o.processed_data_file, o.max_ind_range, mini::shuffle_kind(data_order(o)), o.seed, std::move(file_rows)});
  }
  return text_source(o);
}

std::unique_ptr<mini::DataSource> dataset_source(const Options& o, std::vector<std::uint64_t> file_rows) {
  auto source = data_set(o, std::move(file_rows));
  if (o.indices_per_feature.empty()) {
    return source;
  }
  mini::MultiHotOptions m;
  m.sizes = o.indices_per_feature;
  m.rows = o.embedding_size_given ? given_rows(o) : source->table_rows();
  m.rule = mini::bag_rule(o.multi_hot_rule);
  m.max_bytes = o.multi_hot_memory;
  return std::make_unique<mini::MultiHot>(std::move(source), std::move(m));
}

/// A table has a row for each id of the data.
void require_rows(std::size_t given, std::uint64_t needed, std::size_t table) {
  if (given < needed) {
    throw tutti::Error(tutti::ErrorCode::invalid_argument,
                       "--arch-embedding-size gives table " + std::to_string(table) + " " + std::to_string(given) +
                           " rows, but the data has ids for " + std::to_string(needed) +
                           "; raise it, omit it, or lower --max-ind-range");
  }
}

std::vector<std::size_t> rows_of(const Options& o, const mini::DataSource& source) {
  const auto& rows = source.table_rows();
  if (o.embedding_size_given && o.embedding_size.size() != rows.size()) {
    throw tutti::Error(tutti::ErrorCode::invalid_argument,
                       "--arch-embedding-size names " + std::to_string(o.embedding_size.size()) +
                           " tables but the data has " + std::to_string(rows.size()) + "; name as many, or omit it");
  }
  const auto chosen = o.embedding_size_given ? o.embedding_size : std::vector<std::size_t>(rows.begin(), rows.end());
  for (std::size_t t = 0; t < rows.size(); ++t) {
    require_rows(chosen[t], rows[t], t);
  }
  return chosen;
}

mini::Products products(const Options& o) {
  if (o.compute_type != "bf16" || o.device) {
    return mini::Products::automatic;
  }
  if (const std::string problem = mini::lacks(mini::Products::onednn_bf16); !problem.empty()) {
    throw tutti::Error(tutti::ErrorCode::not_supported, "--compute-type=bf16: " + problem);
  }
  return mini::Products::onednn_bf16;
}

std::size_t largest_batch(const Options& o) {
  const auto& bench = o.bench_batches;
  const std::size_t largest = bench.empty() ? o.mini_batch_size : *std::max_element(bench.begin(), bench.end());
  return std::max(largest, o.test_mini_batch_size);
}

}  // namespace

std::unique_ptr<mini::DataSource> make_source(const Options& o, std::vector<std::uint64_t> file_rows) {
  if (o.data_generation == "dataset") {
    return dataset_source(o, std::move(file_rows));
  }
  if (o.data_generation == "bench") {
    return bench_source(o);
  }
  return random_source(o);
}

ModelShape make_shape(const Options& o, const mini::DataSource& source) {
  if (o.mlp_bot.front() != source.dense_features()) {
    throw tutti::Error(tutti::ErrorCode::invalid_argument,
                       "--arch-mlp-bot begins with " + std::to_string(o.mlp_bot.front()) + " but the data has " +
                           std::to_string(source.dense_features()) + " dense features; begin it with " +
                           std::to_string(source.dense_features()) + ", or take a --preset for such data");
  }
  ModelShape shape;
  shape.bottom = o.mlp_bot;
  shape.dim = o.sparse_feature_size;
  shape.rows = rows_of(o, source);
  shape.max_batch = largest_batch(o);
  shape.blocks = o.reproducible ? o.blocks : 0;
  shape.interaction = {interaction_kind(o.interaction_op, o.interaction_itself), shape.rows.size() + 1, shape.dim,
                       o.dcn_num_layers, o.dcn_low_rank_dim};
  shape.products = products(o);
  shape.top = o.mlp_top;
  shape.top.insert(shape.top.begin(), shape.interaction.width());
  return shape;
}

// On a core of its own the thread takes the whole making of a batch out of the step; the second batch ahead evens out
// batches of unlike cost. On the core of its rank it could only fill the rank's waits, and it also runs while other
// ranks wait for this one: the measured step is no shorter, so the rank reads for itself. There --prefetch can still
// hide a slow disk.
std::uint64_t feed_ahead(const Options& o, const tutti::Topology& topology) {
  constexpr std::uint64_t ahead = 2;
  if (o.prefetch >= 0) {
    return static_cast<std::uint64_t>(o.prefetch);
  }
  return has_second_cores(topology) ? ahead : 0;
}

void set_first_weights(const Options& o, mini::DataSource& source, Model& model) {
  if (o.init == "fast") {
    fast_weights(model, o.seed);
    return;
  }
  mini::NumpyRandom random(o.seed);
  if (const auto* data = dynamic_cast<mini::RandomData*>(&source); data != nullptr && o.debug_mode) {
    mini::Batch batch;
    for (std::uint64_t k = 0; k < source.batches(mini::Split::train, o.mini_batch_size); ++k) {
      source.read(mini::Split::train, o.mini_batch_size, k, {}, batch);
    }
    random = data->generator(mini::Split::train);
  }
  draw_weights(model, random);
}

}  // namespace dlrm
