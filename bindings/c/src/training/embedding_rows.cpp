// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "embedding_handles.hpp"

using namespace tutti::c;
using tutti::EmbeddingCollection;

int tutti_embedding_plan(tutti_embedding_t collection, char* text, size_t capacity, size_t* length) {
  return guard([&] { give_text(collection_of(collection).plan().text(), text, capacity, length); });
}

int tutti_embedding_sharding(tutti_embedding_t collection, size_t table, int* sharding) {
  return guard([&] {
    output(sharding, "sharding") = TUTTI_SHARDING_AUTO;
    const EmbeddingCollection& tables = collection_of(collection);
    check_table(tables, table);
    *sharding = static_cast<int>(tables.plan().shardings[table]);
  });
}

int tutti_embedding_needs(tutti_embedding_t collection, size_t table, int* needs) {
  return guard([&] {
    output(needs, "needs") = 0;
    const EmbeddingCollection& tables = collection_of(collection);
    check_table(tables, table);
    *needs = tables.needs(table) ? 1 : 0;
  });
}

int tutti_embedding_bytes(tutti_embedding_t collection, size_t* bytes) {
  return guard([&] {
    output(bytes, "bytes") = 0;
    *bytes = collection_of(collection).bytes();
  });
}

int tutti_embedding_initialize(tutti_embedding_t collection) {
  return guard([&] { collection_of(collection).initialize(); });
}

int tutti_embedding_fill(tutti_embedding_t collection, size_t table, tutti_make_rows_t make, void* context) {
  return guard([&] {
    EmbeddingCollection& tables = collection_of(collection);
    check_table(tables, table);
    if (make == nullptr) throw_null("make", "pass a function");
    tables.fill(table, [&](std::int64_t begin, std::int64_t end, std::span<float> values) {
      make(begin, end, values.data(), context);
    });
  });
}

int tutti_embedding_shards(tutti_embedding_t collection, tutti_table_shard_t* shards, size_t capacity, size_t* count) {
  return guard([&] {
    output(count, "count") = 0;
    const auto found = collection_of(collection).shards();
    const auto places = elements(shards, std::min(capacity, found.size()), "shards");
    std::transform(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(places.size()), places.begin(),
                   [](const tutti::TableShard& shard) {
                     return tutti_table_shard_t{shard.table,        shard.row_begin,  shard.row_end,
                                                shard.column_begin, shard.column_end, shard.row_step};
                   });
    *count = found.size();
  });
}

int tutti_embedding_read_rows(tutti_embedding_t collection, size_t shard, int64_t row_begin, int64_t row_end,
                              float* values, size_t count) {
  return guard([&] {
    const EmbeddingCollection& tables = collection_of(collection);
    tables.read_rows(shard, row_begin, row_end, elements(values, count, "values"));
  });
}
