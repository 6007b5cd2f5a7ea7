// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "guard.hpp"
#include "training_handles.hpp"

using namespace tutti::c;
using tutti::Error;
using tutti::ErrorCode;
using tutti::ShardedOptimizer;

namespace {

template <typename Float>
void dense_step(const tutti::kernels::DenseUpdate& rule, std::uint64_t step, void* parameters, const void* gradients,
                void* state, std::size_t count) {
  const std::size_t values = tutti::kernels::state_values(rule) * count;
  tutti::kernels::dense_update(rule, step, elements(static_cast<Float*>(parameters), count, "parameters"),
                               elements(static_cast<const Float*>(gradients), count, "gradients"),
                               elements(static_cast<Float*>(state), values, "state"));
}

ShardedOptimizer& optimizer_of(tutti_optimizer_t optimizer) { return whole(optimizer, "optimizer").optimizer; }

}  // namespace

int tutti_dense_state_values(const tutti_dense_update_t* given, size_t* values) {
  return guard([&] { output(values, "values") = tutti::kernels::state_values(update(given)); });
}

int tutti_dense_step(const tutti_dense_update_t* given, uint64_t step, void* parameters, const void* gradients,
                     void* state, size_t count, tutti_datatype_t type) {
  return guard([&] {
    if (type != TUTTI_FLOAT32 && type != TUTTI_FLOAT64)
      throw_misuse(
          ErrorCode::invalid_datatype,
          fmt::format("argument datatype is {}; pass TUTTI_FLOAT32 or TUTTI_FLOAT64", tutti_datatype_name(type)));
    const auto one = type == TUTTI_FLOAT32 ? dense_step<float> : dense_step<double>;
    one(update(given), step, parameters, gradients, state, count);
  });
}

int tutti_optimizer_create(tutti_reducer_t reducer, const tutti_dense_update_t* given, tutti_optimizer_t* optimizer) {
  return guard([&] {
    tutti_optimizer_t& place = output(optimizer, "optimizer");
    place = nullptr;
    ReducerRecord& handle = whole(reducer, "reducer");
    place =
        make_handle<tutti_optimizer_t>(OptimizerRecord{ShardedOptimizer(handle.reducer, *handle.comm, update(given))});
  });
}

int tutti_optimizer_step(tutti_optimizer_t optimizer, double learning_rate, double max_norm, double* norm) {
  return guard([&] {
    const double found = optimizer_of(optimizer).step(learning_rate, max_norm);
    if (norm != nullptr) *norm = found;
  });
}

int tutti_optimizer_state_bytes(tutti_optimizer_t optimizer, size_t* bytes) {
  return guard([&] { output(bytes, "bytes") = optimizer_of(optimizer).state_bytes(); });
}

int tutti_optimizer_save(tutti_optimizer_t optimizer, void* data, size_t capacity, size_t* bytes) {
  return guard([&] { give_state(optimizer_of(optimizer).save(), data, capacity, bytes); });
}

int tutti_optimizer_load(tutti_optimizer_t optimizer, const void* data, size_t bytes) {
  return guard([&] { optimizer_of(optimizer).load(elements(static_cast<const std::byte*>(data), bytes, "data")); });
}

int tutti_optimizer_free(tutti_optimizer_t* optimizer) { return free_handle(optimizer, "optimizer"); }
