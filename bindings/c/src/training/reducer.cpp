// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstring>

#include "guard.hpp"
#include "training_handles.hpp"

using namespace tutti::c;
using tutti::Buffer;
using tutti::GradientReducer;

namespace tutti::c {

void give_state(std::span<const std::byte> state, void* data, std::size_t capacity, std::size_t* bytes) {
  output(bytes, "bytes") = state.size();
  if (data == nullptr) return;
  if (capacity < state.size())
    throw_misuse(ErrorCode::invalid_argument,
                 fmt::format("argument capacity is {}; pass a buffer of {} bytes", capacity, state.size()));
  std::memcpy(data, state.data(), state.size());
}

}  // namespace tutti::c

namespace {

GradientReducer& reducer_of(tutti_reducer_t reducer) { return whole(reducer, "reducer").reducer; }

}  // namespace

int tutti_reducer_create(tutti_comm_t comm, const tutti_reducer_options_t* given, tutti_reducer_t* reducer) {
  return guard([&] {
    tutti_reducer_t& place = output(reducer, "reducer");
    place = nullptr;
    const tutti::Communicator& whole_comm = communicator(comm);
    place = make_handle<tutti_reducer_t>(ReducerRecord{GradientReducer(whole_comm, options(given)), &whole_comm});
  });
}

int tutti_reducer_free(tutti_reducer_t* reducer) { return free_handle(reducer, "reducer"); }

int tutti_reducer_add(tutti_reducer_t reducer, const char* name, void* value, void* gradient, const size_t* shape,
                      size_t dims, tutti_datatype_t type, size_t* index) {
  return guard([&] {
    GradientReducer& whole_reducer = reducer_of(reducer);
    if (name == nullptr) throw_null("name", "pass a text");
    const auto extents = elements(shape, dims, "shape");
    const std::size_t number =
        whole_reducer.add({name, {extents.begin(), extents.end()}, datatype(type).kind(), value, gradient});
    if (index != nullptr) *index = number;
  });
}

int tutti_reducer_prepare(tutti_reducer_t reducer) {
  return guard([&] { reducer_of(reducer).prepare(); });
}

int tutti_reducer_gradient(tutti_reducer_t reducer, size_t index, void** data, size_t* count) {
  return guard([&] {
    output(data, "data") = nullptr;
    output(count, "count") = 0;
    const Buffer gradient = reducer_of(reducer).gradient(index);
    *data = gradient.data;
    *count = gradient.count;
  });
}

int tutti_reducer_layout(tutti_reducer_t reducer, size_t* layout) {
  return guard([&] { output(layout, "layout") = reducer_of(reducer).layout(); });
}

int tutti_reducer_ready(tutti_reducer_t reducer, size_t index) {
  return guard([&] { reducer_of(reducer).ready(index); });
}

int tutti_reducer_progress(tutti_reducer_t reducer) {
  return guard([&] { reducer_of(reducer).progress(); });
}

int tutti_reducer_wait(tutti_reducer_t reducer) {
  return guard([&] { reducer_of(reducer).wait(); });
}

int tutti_reducer_used(tutti_reducer_t reducer, size_t index, int* used) {
  return guard([&] { output(used, "used") = reducer_of(reducer).used(index) ? 1 : 0; });
}

int tutti_reducer_set_sync(tutti_reducer_t reducer, int sync) {
  return guard([&] { reducer_of(reducer).set_sync(sync != 0); });
}

int tutti_reducer_join(tutti_reducer_t reducer, int* more) {
  return guard([&] {
    output(more, "more") = 0;
    *more = reducer_of(reducer).join() ? 1 : 0;
  });
}

int tutti_reducer_clip(tutti_reducer_t reducer, double max_norm, double* norm) {
  return guard([&] {
    const double found = tutti::clip_gradients(reducer_of(reducer), *whole(reducer, "reducer").comm, max_norm);
    if (norm != nullptr) *norm = found;
  });
}

int tutti_reducer_map(tutti_reducer_t reducer, char* text, size_t capacity, size_t* length) {
  return guard([&] { give_text(reducer_of(reducer).map(), text, capacity, length); });
}

int tutti_reducer_statistics(tutti_reducer_t reducer, tutti_reducer_figures_t* statistics) {
  return guard([&] {
    const tutti::ReducerStatistics found = reducer_of(reducer).statistics();
    output(statistics, "statistics") = {found.steps,          found.buckets,         found.bucket_bytes,
                                        found.bytes_per_step, found.exposed_seconds, found.rebuilt ? 1 : 0,
                                        found.tuned ? 1 : 0};
  });
}

int tutti_reducer_save(tutti_reducer_t reducer, void* data, size_t capacity, size_t* bytes) {
  return guard([&] { give_state(reducer_of(reducer).save(), data, capacity, bytes); });
}

int tutti_reducer_load(tutti_reducer_t reducer, const void* data, size_t bytes) {
  return guard([&] { reducer_of(reducer).load(elements(static_cast<const std::byte*>(data), bytes, "data")); });
}
