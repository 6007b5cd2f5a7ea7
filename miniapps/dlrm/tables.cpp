// SPDX-License-Identifier: BSD-3-Clause
#include "tables.hpp"

#include <array>
#include <utility>

#include "common/agree.hpp"
#include "memory_check.hpp"

namespace dlrm {

using tutti::Sharding;

namespace {

Sharding sharding_of(const std::string& name, std::size_t table) {
  constexpr std::array kinds{Sharding::data_parallel, Sharding::table_wise, Sharding::row_wise, Sharding::column_wise,
                             Sharding::row_wise_on_node};
  if (name == "mixed") {
    return kinds[table % kinds.size()];
  }
  for (const Sharding kind : kinds) {
    if (name == tutti::sharding_name(kind)) {
      return kind;
    }
  }
  return Sharding::automatic;
}

tutti::RowOrder row_order_of(const std::string& name) {
  using tutti::RowOrder;
  for (const RowOrder order : {RowOrder::blocks, RowOrder::cyclic}) {
    if (name == tutti::row_order_name(order)) {
      return order;
    }
  }
  return RowOrder::automatic;
}

/// Whether each bag of a table is one row.
bool has_one_index(const Options& o, std::size_t table) {
  if (!o.indices_per_feature.empty()) {
    return o.indices_per_feature[table] == 1;
  }
  return o.data_generation == "dataset" ? !o.day_files && !o.parquet : o.indices_per_lookup == 1;
}

/// "fp32", "bf16", "fp16" or "int8".
tutti::DatatypeKind type_of(const std::string& name) {
  using tutti::DatatypeKind;
  constexpr std::array<std::pair<const char*, DatatypeKind>, 3> types{
      {{"bf16", DatatypeKind::bfloat16}, {"fp16", DatatypeKind::float16}, {"int8", DatatypeKind::uint8}}};
  for (const auto& [text, type] : types) {
    if (name == text) {
      return type;
    }
  }
  return DatatypeKind::float32;
}

}  // namespace

std::vector<tutti::EmbeddingTableConfig> make_tables(const Options& o, const ModelShape& shape,
                                                     tutti::miniapps::DataSource& source, int ranks) {
  const auto lookups = source.mean_lookups();
  const bool is_counted = ranks > 1 && o.data_generation == "dataset";
  auto counts = is_counted ? count_lookups(source, shape.rows, o.mini_batch_size)
                           : std::vector<tutti::miniapps::LookupCounts>(shape.rows.size());
  std::vector<tutti::EmbeddingTableConfig> tables;
  for (std::size_t t = 0; t < shape.rows.size(); ++t) {
    tables.push_back({.name = std::to_string(t),
                      .rows = static_cast<std::int64_t>(shape.rows[t]),
                      .dim = shape.dim,
                      .type = type_of(o.table_type),
                      .pooling = tutti::kernels::Pooling::sum,
                      .mean_lookups = lookups[t],
                      .sharding = sharding_of(o.sharding, t),
                      .lookup_shares = std::move(counts[t].shares),
                      .row_order = row_order_of(o.row_order),
                      .frequencies = std::move(counts[t].frequencies)});
  }
  return tables;
}

tutti::kernels::RowOptimizer row_optimizer(const Options& o) {
  using tutti::kernels::RowOptimizer;
  if (o.optimizer == "adagrad") {
    return RowOptimizer::adagrad;
  }
  if (o.optimizer == "adam") {
    return RowOptimizer::adam;
  }
  return o.optimizer == "rwsadagrad" ? RowOptimizer::row_wise_adagrad : RowOptimizer::sgd;
}

tutti::ShardingPlan make_plan(const tutti::Communicator& comm, const Options& o,
                              const std::vector<tutti::EmbeddingTableConfig>& tables) {
  tutti::PlannerOptions planner{.batch = o.mini_batch_size,
                                .memory_limit = o.memory_limit,
                                .optimizer = row_optimizer(o),
                                .exchange_type = type_of(o.exchange_type)};
  const auto plan = tutti::plan_sharding(comm, tables, planner);
  if (o.memory_limit > 0 || o.table_memory > 0 || o.sharding != "auto") {
    return plan;
  }
  // Only where a rank would get more than it can have is its share of what is free a limit.
  const FreeMemory free = free_memory(comm);
  std::size_t most = 0;
  std::size_t all = 0;
  for (const auto& load : plan.prediction) {
    most = std::max(most, load.bytes);
    all += load.bytes;
  }
  if (most <= free.of_rank || all > free.of_all) {
    return plan;
  }
  planner.memory_limit = free.of_rank;
  return tutti::plan_sharding(comm, tables, planner);
}

std::size_t bytes_in_memory(const Options& o, std::size_t bytes) {
  return o.table_memory > 0 ? std::min<std::size_t>(bytes, o.table_memory) : bytes;
}

void require_trainable(const tutti::ShardingPlan& plan) {
  constexpr std::int64_t most_rows = 0xffffffff;
  for (const tutti::TableShard& shard : plan.shards) {
    if (shard.rows() > most_rows) {
      throw tutti::miniapps::AgreedError(
          tutti::ErrorCode::invalid_argument,
          "table " + std::to_string(shard.table) + " has " + std::to_string(shard.rows()) + " rows on rank " +
              std::to_string(shard.rank) +
              ", which must be below 2^32; divide them over more ranks by --sharding=row-wise, or lower "
              "--arch-embedding-size");
    }
  }
}

void require_reproducible(const tutti::ShardingPlan& plan, const Options& o,
                          std::span<const tutti::EmbeddingTableConfig> tables) {
  const auto refuse = [](const std::string& what) {
    throw tutti::miniapps::AgreedError(tutti::ErrorCode::invalid_argument, "--reproducible: " + what);
  };
  if (o.blocks % static_cast<std::size_t>(plan.ranks) != 0) {
    refuse("--blocks=" + std::to_string(o.blocks) + " is no multiple of the " + std::to_string(plan.ranks) +
           " ranks; choose one");
  }
  for (const tutti::TableShard& shard : plan.shards) {
    const auto& table = tables[shard.table];
    if (shard.rows() < table.rows && !has_one_index(o, shard.table)) {
      refuse("the plan divides the rows of table " + table.name +
             ", so that sums over its bags depend on the number of ranks; use --sharding=table-wise, column-wise or "
             "data-parallel");
    }
    if (shard.columns() < table.dim && o.optimizer == "rwsadagrad") {
      refuse("the plan divides the columns of table " + table.name +
             ", so that the sums of --optimizer=rwsadagrad depend on the number of ranks; use --sharding=table-wise or "
             "data-parallel, or another optimizer");
    }
  }
}

tutti::EmbeddingCollectionOptions collection_options(const Options& o, const ModelShape& shape) {
  tutti::EmbeddingCollectionOptions options;
  options.optimizer = row_optimizer(o);
  const double usual = o.optimizer == "adam" ? 1e-8 : 1e-10;
  options.epsilon = static_cast<float>(o.epsilon > 0 ? o.epsilon : usual);
  options.rounding = o.stochastic_rounding ? tutti::kernels::Rounding::stochastic : tutti::kernels::Rounding::nearest;
  options.max_batch = shape.max_batch;
  options.slots = o.pipeline ? 2 : 1;
  options.seed = o.seed;
  options.exchange_type = type_of(o.exchange_type);
  options.table_memory = o.table_memory;
  options.table_folder = o.table_folder;
  options.grow = !o.load.empty();  // load_checkpoint() checks the rows itself
  return options;
}

ReaderPart reader_part(const Options& o, const tutti::EmbeddingCollection& embeddings, int rank, int ranks) {
  using tutti::miniapps::BagSamples;
  ReaderPart part{{}, rank, ranks, o.data_generation == "dataset" ? BagSamples::own : BagSamples::all};
  for (std::size_t t = 0; t < embeddings.tables(); ++t) {
    if (part.bags == BagSamples::own || embeddings.needs(t)) {
      part.tables.push_back(t);
    }
  }
  return part;
}

}  // namespace dlrm
