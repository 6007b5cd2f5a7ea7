// SPDX-License-Identifier: BSD-3-Clause
#include "embedding_handles.hpp"
#include "guard.hpp"
#include "structs.hpp"

namespace tutti::c {
namespace {

constexpr const char* argument = "options";

tutti_embedding_options_t read(const tutti_embedding_options_t* given) {
  const tutti_embedding_options_t defaults TUTTI_EMBEDDING_OPTIONS_INIT;
  if (given == nullptr) return defaults;
  return read_struct(given, defaults, TUTTI_EMBEDDING_OPTIONS_VERSION, argument, "TUTTI_EMBEDDING_OPTIONS_INIT");
}

template <typename Enum>
Enum number(std::int32_t value, int most, const char* of, const char* member) {
  return static_cast<Enum>(within<std::int32_t>(value, 0, most, of, member));
}

DatatypeKind exchange_type(tutti_datatype_t given) {
  if (given == TUTTI_FLOAT32) return DatatypeKind::float32;
  if (given == TUTTI_BFLOAT16) return DatatypeKind::bfloat16;
  if (given == TUTTI_FLOAT16) return DatatypeKind::float16;
  refuse_member(argument, "exchange_datatype",
                fmt::format("is {}; pass TUTTI_FLOAT32, TUTTI_BFLOAT16 or TUTTI_FLOAT16", tutti_datatype_name(given)));
}

template <typename Number>
std::vector<Number> numbers(const Number* first, std::size_t count, const char* member, const char* of_count) {
  if (first == nullptr && count > 0)
    refuse_member("tables", member, fmt::format("is NULL; pass numbers, or a {} of 0", of_count));
  return {first, first + count};
}

RowFrequencies row_frequencies(const tutti_row_frequencies_t& given) {
  return {numbers(given.hot_rows, given.hot_count, "frequencies->hot_rows", "hot_count"),
          numbers(given.hot_lookups, given.hot_count, "frequencies->hot_lookups", "hot_count"),
          numbers(given.bucket_rows, given.bucket_count, "frequencies->bucket_rows", "bucket_count"),
          numbers(given.bucket_lookups, given.bucket_count, "frequencies->bucket_lookups", "bucket_count")};
}

}  // namespace

std::vector<EmbeddingTableConfig> table_configs(std::span<const tutti_embedding_table_t> given) {
  std::vector<EmbeddingTableConfig> configs;
  for (const tutti_embedding_table_t& table : given) {
    if (table.name == nullptr) refuse_member("tables", "name", "is NULL; pass a text");
    EmbeddingTableConfig config;
    config.name = table.name;
    config.rows = table.rows;
    config.dim = table.dim;
    config.type = datatype(table.datatype, "tables").kind();
    config.pooling = number<kernels::Pooling>(table.pooling, TUTTI_POOLING_MAX, "tables", "pooling");
    config.sharding = number<Sharding>(table.sharding, TUTTI_SHARDING_ROW_WISE_ON_NODE, "tables", "sharding");
    config.mean_lookups = table.mean_lookups;
    config.lookup_shares =
        numbers(table.lookup_shares, table.lookup_share_count, "lookup_shares", "lookup_share_count");
    config.row_order = number<RowOrder>(table.row_order, TUTTI_ROW_ORDER_CYCLIC, "tables", "row_order");
    if (table.frequencies != nullptr) config.frequencies = row_frequencies(*table.frequencies);
    configs.push_back(std::move(config));
  }
  return configs;
}

EmbeddingCollectionOptions embedding_options(const tutti_embedding_options_t* given) {
  const auto values = read(given);
  EmbeddingCollectionOptions result;
  result.optimizer = number<kernels::RowOptimizer>(values.optimizer, TUTTI_ROWS_ADAM, argument, "optimizer");
  result.epsilon = static_cast<float>(values.epsilon);
  result.beta1 = values.beta1;
  result.beta2 = values.beta2;
  result.rounding = values.stochastic_rounding != 0 ? kernels::Rounding::stochastic : kernels::Rounding::nearest;
  result.policy = number<kernels::IndexPolicy>(values.policy, TUTTI_INDEX_IGNORE, argument, "policy");
  result.max_batch = values.max_batch;
  result.slots = within<std::size_t>(values.slots, 1, 1024, argument, "slots");
  result.weighted = values.weighted != 0;
  result.seed = values.seed;
  result.memory = memory_of(values, argument);
  result.stream = stream_of(values, argument);
  result.epsilon_hat = values.epsilon_hat != 0;
  result.grow = values.grow != 0;
  result.exchange_type = exchange_type(values.exchange_datatype);
  result.table_memory = values.table_memory;
  if (values.table_folder != nullptr) result.table_folder = values.table_folder;
  return result;
}

PlannerOptions planner_options(const tutti_embedding_options_t* given) {
  const auto values = read(given);
  const EmbeddingCollectionOptions collection = embedding_options(given);
  PlannerOptions result;
  result.batch = values.max_batch;
  result.memory_limit = values.memory_limit;
  result.optimizer = collection.optimizer;
  result.exchange_type = collection.exchange_type;
  return result;
}

InputLayout input_layout(int given) {
  if (given == TUTTI_INPUT_GLOBAL) return InputLayout::global;
  if (given == TUTTI_INPUT_LOCAL) return InputLayout::local;
  throw_misuse(ErrorCode::invalid_argument,
               fmt::format("argument layout is {}; pass TUTTI_INPUT_GLOBAL or TUTTI_INPUT_LOCAL", given));
}

kernels::IndexType index_type(tutti_datatype_t given) {
  if (given == TUTTI_INT32) return kernels::IndexType::int32;
  if (given == TUTTI_INT64) return kernels::IndexType::int64;
  throw_misuse(
      ErrorCode::invalid_datatype,
      fmt::format("argument index_datatype is {}; pass TUTTI_INT32 or TUTTI_INT64", tutti_datatype_name(given)));
}

void check_table(const EmbeddingCollection& collection, std::size_t table) {
  if (table >= collection.tables()) refuse_table(table, collection.tables());
}

void refuse_table(std::size_t table, std::size_t tables) {
  throw_misuse(ErrorCode::invalid_argument,
               fmt::format("argument table is {}; pass a number below {}, the number of tables", table, tables));
}

void refuse_slot(std::size_t slot, std::size_t slots) {
  throw_misuse(ErrorCode::invalid_argument,
               fmt::format("argument slot is {}; pass a number below {}, the number of slots", slot, slots));
}

}  // namespace tutti::c
