// SPDX-License-Identifier: BSD-3-Clause
#include "embedding_handles.hpp"

using namespace tutti::c;
using tutti::EmbeddingCollection;

namespace {

/// Tells where the vectors, or gradients, of one table are.
template <typename Views, typename Float>
void give_view(const Views& views, std::size_t table, std::size_t of, Float** data, std::size_t* stride,
               std::size_t* samples) {
  if (table >= views.size()) refuse_table(table, views.size());
  *data = views[table].data;
  *stride = views[table].stride;
  *samples = of;
}

template <typename Float>
void clear_view(Float** data, std::size_t* stride, std::size_t* samples) {
  output(data, "data") = nullptr;
  output(stride, "stride") = 0;
  output(samples, "samples") = 0;
}

std::size_t samples_of(const EmbeddingRecord& handle, std::size_t slot) {
  return slot < handle.samples.size() ? handle.samples[slot] : 0;
}

}  // namespace

int tutti_embedding_create(tutti_comm_t comm, const tutti_embedding_table_t* tables, size_t count,
                           const tutti_embedding_options_t* given, tutti_embedding_t* collection) {
  return guard([&] {
    tutti_embedding_t& place = output(collection, "collection");
    place = nullptr;
    const tutti::Communicator& whole_comm = communicator(comm);
    const auto configs = table_configs(elements(tables, count, "tables"));
    const auto chosen = embedding_options(given);
    auto plan = tutti::plan_sharding(whole_comm, configs, planner_options(given));
    EmbeddingRecord made{EmbeddingCollection(whole_comm, configs, std::move(plan), chosen),
                         &whole_comm,
                         std::vector<std::size_t>(chosen.slots),
                         {}};
    made.lookups.resize(chosen.slots);
    place = make_handle<tutti_embedding_t>(std::move(made));
  });
}

int tutti_embedding_free(tutti_embedding_t* collection) { return free_handle(collection, "collection"); }

int tutti_embedding_start_forward(tutti_embedding_t collection, size_t slot, const tutti_bags_t* bags,
                                  tutti_datatype_t index_datatype, size_t batch, int layout, const char* error) {
  return guard([&] {
    EmbeddingCollection& tables = collection_of(collection);
    const tutti::InputLayout chosen = input_layout(layout);
    const tutti::kernels::IndexType type = index_type(index_datatype);
    const auto given = error != nullptr ? std::span(bags, 0) : elements(bags, tables.tables(), "bags");
    EmbeddingRecord& handle = whole(collection, "collection");
    if (slot >= handle.lookups.size()) refuse_slot(slot, handle.lookups.size());
    std::vector<tutti::kernels::TableLookups> lookups;
    for (const tutti_bags_t& table : given) lookups.push_back({table.indices, table.offsets, table.weights});
    tables.start_forward(slot, {lookups, type, batch, chosen, error != nullptr ? error : ""});
    // The array lives as long as the slot's batch.
    handle.lookups[slot] = std::move(lookups);
    handle.samples[slot] = tutti::sample_slice(batch, handle.comm->rank(), handle.comm->size()).size();
  });
}

int tutti_embedding_finish_forward(tutti_embedding_t collection, size_t slot) {
  return guard([&] {
    EmbeddingRecord& handle = whole(collection, "collection");
    if (slot >= handle.lookups.size()) refuse_slot(slot, handle.lookups.size());
    handle.vectors.resize(handle.lookups.size());
    handle.vectors[slot] = handle.collection.finish_forward(slot);
  });
}

int tutti_embedding_vectors(tutti_embedding_t collection, size_t slot, size_t table, const float** data, size_t* stride,
                            size_t* samples) {
  return guard([&] {
    clear_view(data, stride, samples);
    const EmbeddingRecord& handle = whole(collection, "collection");
    if (slot >= handle.vectors.size()) refuse_slot(slot, handle.vectors.size());
    give_view(handle.vectors[slot], table, samples_of(handle, slot), data, stride, samples);
  });
}

int tutti_embedding_gradients(tutti_embedding_t collection, size_t slot, size_t table, float** data, size_t* stride,
                              size_t* samples) {
  return guard([&] {
    clear_view(data, stride, samples);
    const EmbeddingRecord& handle = whole(collection, "collection");
    if (slot >= handle.lookups.size()) refuse_slot(slot, handle.lookups.size());
    give_view(handle.collection.gradients(slot), table, samples_of(handle, slot), data, stride, samples);
  });
}

int tutti_embedding_start_backward(tutti_embedding_t collection, size_t slot) {
  return guard([&] { collection_of(collection).start_backward(slot); });
}

int tutti_embedding_finish_backward(tutti_embedding_t collection, size_t slot, double learning_rate) {
  return guard([&] { collection_of(collection).finish_backward(slot, static_cast<float>(learning_rate)); });
}

int tutti_embedding_progress(tutti_embedding_t collection) {
  return guard([&] { collection_of(collection).progress(); });
}
