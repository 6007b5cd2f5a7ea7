// SPDX-License-Identifier: BSD-3-Clause
// Loads of ranks that plans predict from a sidecar, against those that are counted in the batches of its data.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <tutti/collectives/barrier.hpp>

#include "common/criteo_binary.hpp"
#include "data/commands.hpp"
#include "dlrm/tables.hpp"
#include "support/common_folder.hpp"
#include "support/world.hpp"

namespace {

namespace mini = tutti::miniapps;
using namespace tutti;
using namespace tutti::test;

constexpr std::size_t batch = 4096;

/// The training samples of a data set.
struct Lookups {
  std::unique_ptr<mini::DataSource> source;
  std::vector<std::size_t> rows;                   ///< of each table
  std::vector<std::vector<std::int64_t>> rows_of;  ///< the row of each sample, table by table; whole batches alone
};

/// Collective.
Lookups read(const std::filesystem::path& prefix) {
  Lookups data;
  const auto rows = mini::criteo_binary_rows(world(), prefix);
  data.rows.assign(rows.begin(), rows.end());
  data.source =
      std::make_unique<mini::CriteoBinary>(mini::CriteoBinaryOptions{prefix, -1, mini::Shuffle::none, 1, rows});
  data.rows_of.resize(rows.size());
  std::vector<std::size_t> tables(rows.size());
  std::iota(tables.begin(), tables.end(), std::size_t{0});
  mini::Batch samples;
  for (std::uint64_t k = 0; k < data.source->samples(mini::Split::train) / batch; ++k) {
    data.source->read(mini::Split::train, batch, k, {{}, tables}, samples);
    for (const std::size_t t : tables) {
      const auto& indices = samples.tables[t].indices;
      data.rows_of[t].insert(data.rows_of[t].end(), indices.begin(), indices.end());
    }
  }
  return data;
}

/// Criteo text with the ids of these samples.
void write_text(const std::filesystem::path& path, const Lookups& data) {
  std::string text;
  for (std::size_t s = 0; s < data.rows_of[0].size(); ++s) {
    text += "1" + std::string(mini::criteo_dense, '\t');
    for (const auto& rows : data.rows_of) fmt::format_to(std::back_inserter(text), "\t{:08x}", rows[s]);
    text += '\n';
  }
  std::ofstream(path) << text;
}

ShardingPlan plan_of(const Lookups& data, std::size_t ranks, RowOrder order) {
  dlrm::Options options;
  options.data_generation = "dataset";
  options.sharding = "row-wise";
  options.row_order = row_order_name(order);
  options.mini_batch_size = batch;
  dlrm::ModelShape shape;
  shape.rows = data.rows;
  shape.dim = 16;
  PlannerFacts facts;
  facts.node_of.assign(ranks, 0);
  const auto tables = dlrm::make_tables(options, shape, *data.source, static_cast<int>(ranks));
  return plan_sharding(facts, tables, {.batch = batch});
}

std::vector<int> owners(const ShardingPlan& plan, std::size_t table, std::size_t rows) {
  std::vector<int> of_row(rows, -1);
  for (const TableShard& shard : plan.shards) {
    for (std::int64_t place = 0; shard.table == table && place < shard.rows(); ++place)
      of_row[static_cast<std::size_t>(shard.table_rows().row(place))] = shard.rank;
  }
  return of_row;
}

/// The mean loads of the ranks over all batches.
std::vector<RankLoad> counted(const ShardingPlan& plan, const Lookups& data) {
  std::vector<RankLoad> loads(static_cast<std::size_t>(plan.ranks));
  const std::size_t samples = data.rows_of[0].size();
  const double part = static_cast<double>(batch) / static_cast<double>(samples);
  for (std::size_t t = 0; t < data.rows.size(); ++t) {
    const auto owner = owners(plan, t, data.rows[t]);
    std::vector<std::size_t> last_batch(data.rows[t], samples);
    for (std::size_t s = 0; s < samples; ++s) {
      const auto row = static_cast<std::size_t>(data.rows_of[t][s]);
      RankLoad& load = loads.at(static_cast<std::size_t>(owner[row]));
      load.lookups += part;
      load.distinct_rows += last_batch[row] == s / batch ? 0 : part;
      last_batch[row] = s / batch;
    }
  }
  return loads;
}

double mean(const std::vector<RankLoad>& loads, double RankLoad::*load) {
  return std::transform_reduce(loads.begin(), loads.end(), 0.0, std::plus<>(),
                               [&](const RankLoad& each) { return each.*load; }) /
         static_cast<double>(loads.size());
}

/// What the most loaded rank has, relative to the mean.
double imbalance(const std::vector<RankLoad>& loads, double RankLoad::*load) {
  const auto most = std::ranges::max_element(loads, {}, load);
  return *most.*load / mean(loads, load);
}

/// Each rank to within 5 % of its load, or of the mean where it has less.
void expect_close(const std::vector<RankLoad>& predicted, const std::vector<RankLoad>& loads,
                  const std::string& where) {
  for (const auto load : {&RankLoad::lookups, &RankLoad::distinct_rows}) {
    double off = 0;
    for (std::size_t r = 0; r < loads.size(); ++r)
      off = std::max(off, std::abs(predicted[r].*load - loads[r].*load) / std::max(loads[r].*load, mean(loads, load)));
    EXPECT_LE(off, 0.05) << where << (load == &RankLoad::lookups ? ", lookups" : ", distinct rows");
  }
}

void expect_predicted(const Lookups& data, const std::string& numbering) {
  for (const std::size_t ranks : {2U, 8U, 64U}) {
    for (const RowOrder order : {RowOrder::blocks, RowOrder::cyclic}) {
      const ShardingPlan plan = plan_of(data, ranks, order);
      expect_close(plan.prediction, counted(plan, data),
                   fmt::format("{}, {}, {} ranks", numbering, row_order_name(order), ranks));
    }
  }
}

/// Data by Zipf's law, with rows as they are drawn, and numbered by frequency: then blocks leave one rank with most
/// rows.
TEST(Skew, IsPredictedFromTheSidecar) {
  const CommonFolder folder;
  data::GenerateOptions made;
  made.output = folder / "made";
  made.samples = 15 * batch;
  made.rows = {20000};
  data::generate(world(), made);
  const Lookups spread = read(folder / "made");
  if (world().rank() == 0) write_text(folder / "text", spread);
  barrier(world());
  data::ConvertOptions numbered;
  numbered.inputs = {folder / "text"};
  numbered.output = folder / "numbered";
  numbered.rule.kind = data::DictionaryRule::Kind::frequency;
  data::convert(world(), numbered);
  const Lookups sorted = read(folder / "numbered");
  if (world().rank() != 0) return;
  expect_predicted(spread, "as drawn");
  expect_predicted(sorted, "by frequency");
  const ShardingPlan chosen = plan_of(sorted, 8, RowOrder::automatic);
  EXPECT_EQ(chosen.shards.front().row_step, 8) << chosen.text();
  EXPECT_LE(imbalance(counted(chosen, sorted), &RankLoad::distinct_rows), 1.1);
  EXPECT_GE(imbalance(counted(plan_of(sorted, 8, RowOrder::blocks), sorted), &RankLoad::distinct_rows), 2);
}

}  // namespace
