// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/embedding_collection.hpp>
#include <vector>

#include "training_handles.hpp"

namespace tutti::c {

struct EmbeddingRecord {
  EmbeddingCollection collection;
  const Communicator* comm;
  std::vector<std::size_t> samples;                                  // of this rank, by slot
  std::vector<std::vector<kernels::TableLookups>> lookups;           // by slot
  std::vector<std::vector<kernels::Pooled<const float>>> vectors{};  // by slot
  CheckpointSave save{};
};

template <>
struct HandleKind<tutti_embedding_t> {
  static inline constinit HandleTable<EmbeddingRecord> table{7};
  static constexpr const char* noun = "collection";
  static constexpr ErrorCode code = ErrorCode::invalid_argument;
};

[[nodiscard]] inline EmbeddingCollection& collection_of(tutti_embedding_t collection) {
  return whole(collection, "collection").collection;
}
[[nodiscard]] std::vector<EmbeddingTableConfig> table_configs(std::span<const tutti_embedding_table_t> given);
[[nodiscard]] EmbeddingCollectionOptions embedding_options(const tutti_embedding_options_t* given);
[[nodiscard]] PlannerOptions planner_options(const tutti_embedding_options_t* given);
[[nodiscard]] InputLayout input_layout(int given);
[[nodiscard]] kernels::IndexType index_type(tutti_datatype_t given);
/// Throws if there is no such table.
void check_table(const EmbeddingCollection& collection, std::size_t table);
[[noreturn]] void refuse_table(std::size_t table, std::size_t tables);
[[noreturn]] void refuse_slot(std::size_t slot, std::size_t slots);

}  // namespace tutti::c
