// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/collection_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tutti/error.hpp>
#include <tutti/kernels/device.hpp>

#include "training/embedding/plan_cost.hpp"
#include "training/embedding/row_access.hpp"
#include "training/embedding/row_cache.hpp"

namespace tutti::detail {

namespace {

void check_type(std::size_t t, const EmbeddingTableConfig& table) {
  constexpr std::array allowed{DatatypeKind::float32, DatatypeKind::float16, DatatypeKind::bfloat16,
                               DatatypeKind::uint8};
  if (std::find(allowed.begin(), allowed.end(), table.type) == allowed.end()) {
    throw Error(ErrorCode::invalid_datatype,
                fmt::format("EmbeddingCollection: table {} '{}' is of type {}; rows must be float32, float16, "
                            "bfloat16 or uint8",
                            t, table.name, datatype_name(table.type)));
  }
}

/// Row-wise state belongs to whole rows, so shards that share any rows must hold the same ones.
void check_row_state(std::size_t t, const CollectionFacts& facts) {
  if (facts.options.optimizer != kernels::RowOptimizer::row_wise_adagrad || facts.map.replicated(t)) return;
  for (const auto& a : facts.map.of_table(t)) {
    for (const auto& b : facts.map.of_table(t)) {
      const TableShard& left = facts.map.piece(a).shard;
      const TableShard& right = facts.map.piece(b).shard;
      if (left.table_rows() != right.table_rows() && common_rows(left.table_rows(), right.table_rows())) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("EmbeddingCollection: the shards of table {} '{}' divide its rows at different places; "
                                "with row-wise Adagrad, shards that share rows must hold the same rows",
                                t, facts.tables[t].name));
      }
    }
  }
}

void check_device(const CollectionFacts& facts) {
  const auto memory = facts.options.memory;
  if (memory == MemoryKind::host) return;
  if (memory != MemoryKind::device) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("EmbeddingCollection: option memory is {}; pass host or device", memory_kind_name(memory)));
  }
  static_cast<void>(device::required_runtime("EmbeddingCollection on a device"));
  if (!kernels::device::is_available()) {
    throw Error(
        ErrorCode::not_built,
        "EmbeddingCollection on a device: this library was built without device kernels; build it where nvcc is "
        "found, or use host memory");
  }
  if (facts.options.stream.kind != StreamKind::cuda) {
    throw Error(ErrorCode::invalid_argument,
                "EmbeddingCollection on a device: option stream is unset; pass the stream that orders its work");
  }
  device::refuse_per_thread(facts.options.stream, [] { return "EmbeddingCollection on a device"; });
}

[[noreturn]] void refuse_cache(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "EmbeddingCollection: " + what);
}

/// Memory that the rows of the largest batch take in rank r's caches, by the planner's count of different rows.
double batch_memory(const CollectionFacts& facts, int r) {
  double bytes = 0;
  for (const Piece& piece : facts.map.of_rank(r)) {
    const EmbeddingTableConfig& table = facts.tables[piece.shard.table];
    const double lookups = static_cast<double>(facts.options.max_batch) * table.mean_lookups;
    const RowShape shape{table.type, piece.shard.columns(),
                         kernels::row_state_values(facts.options.optimizer, piece.shard.columns())};
    bytes += RowAccess(table, lookups).load(piece.shard.table_rows()).distinct *
             static_cast<double>(RowCache::slot_bytes(shape));
  }
  return bytes;
}

void check_table_memory(const CollectionFacts& facts) {
  const auto& options = facts.options;
  if (options.table_memory == 0 && !options.table_folder.empty())
    refuse_cache("option table_folder is set, but table_memory is 0; set the largest memory of tables too");
  if (options.table_memory == 0) return;
  if (options.table_folder.empty())
    refuse_cache("option table_memory is set, but table_folder is empty; name a folder on a disk");
  if (facts.on_device())
    refuse_cache("option table_memory is for tables in host memory; omit it, or pass memory = host");
  for (int r = 0; r < facts.ranks; ++r) {
    const double least = batch_memory(facts, r);
    if (!facts.caches(bytes_of_rank(facts, r)) || least <= static_cast<double>(options.table_memory)) continue;
    refuse_cache(fmt::format(
        "option table_memory is {} bytes, but the rows of a batch of max_batch = {} samples take about {:.0f} bytes on "
        "rank {}; raise table_memory to that at least, better to many times as much, or lower max_batch",
        options.table_memory, options.max_batch, least, r));
  }
}

Hash hash_of(std::span<const EmbeddingTableConfig> tables, const ShardingPlan& plan,
             const EmbeddingCollectionOptions& options) {
  Hash hash;
  add_tables(hash, tables);
  for (const auto& shard : plan.shards) {
    hash.add(shard.table).add(shard.rank).add(shard.row_begin).add(shard.row_end);
    hash.add(shard.column_begin).add(shard.column_end).add(shard.row_step);
  }
  for (const Sharding sharding : plan.shardings) hash.add(sharding);
  hash.add(options.optimizer).add(options.policy).add(static_cast<double>(options.epsilon)).add(options.beta1);
  hash.add(options.beta2).add(options.rounding).add(options.max_batch).add(options.slots).add(options.weighted);
  hash.add(options.seed).add(options.memory).add(options.stream.kind).add(options.epsilon_hat).add(options.grow);
  hash.add(options.exchange_type);
  hash.add(options.table_memory).add(options.table_folder);
  return hash;
}

}  // namespace

std::size_t bytes_of_rank(const CollectionFacts& facts, int r) {
  std::size_t bytes = 0;
  for (const Piece& piece : facts.map.of_rank(r)) {
    const TableShard& shard = piece.shard;
    bytes += shard_arrays(facts.tables[shard.table], shard.rows(), shard.columns(), facts.options.optimizer).bytes();
  }
  return bytes;
}

CollectionFacts agree_on_facts(const Communicator& comm, std::span<const EmbeddingTableConfig> tables,
                               ShardingPlan plan, const EmbeddingCollectionOptions& options) {
  check_alike(comm, hash_of(tables, plan, options), "EmbeddingCollection: tables, plans or options");
  if (plan.ranks != comm.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("EmbeddingCollection: the plan is for {} ranks, but the communicator has {}", plan.ranks,
                            comm.size()));
  }
  plan.validate(tables);
  if (options.slots < 1 || options.max_batch < 1)
    throw Error(ErrorCode::invalid_argument, "EmbeddingCollection: slots and max_batch must be at least 1");
  check_exchange_type(options.exchange_type, "EmbeddingCollection");
  PieceMap map(tables, plan);
  CollectionFacts facts{
      {tables.begin(), tables.end()}, std::move(plan), options, std::move(map), comm.rank(), comm.size()};
  for (std::size_t t = 0; t < tables.size(); ++t) {
    check_type(t, tables[t]);
    check_row_state(t, facts);
  }
  check_device(facts);
  check_table_memory(facts);
  if (facts.on_device()) facts.device = device::runtime()->current_device();
  return facts;
}

}  // namespace tutti::detail
