// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <tutti/communication_hook.hpp>
#include <tutti/gradient_reducer.hpp>
#include <tutti/kernels/optimizers.hpp>
#include <tutti/parameter_server.hpp>
#include <tutti/sharded_optimizer.hpp>

#include "handles.hpp"

namespace tutti::c {

struct ReducerRecord {
  GradientReducer reducer;
  const Communicator* comm;
};

struct OptimizerRecord {
  ShardedOptimizer optimizer;
};

struct ServerRecord {
  ParameterServer server;
};

template <>
struct HandleKind<tutti_reducer_t> {
  static inline constinit HandleTable<ReducerRecord> table{4};
  static constexpr const char* noun = "reducer";
  static constexpr ErrorCode code = ErrorCode::invalid_argument;
};
template <>
struct HandleKind<tutti_optimizer_t> {
  static inline constinit HandleTable<OptimizerRecord> table{5};
  static constexpr const char* noun = "optimizer";
  static constexpr ErrorCode code = ErrorCode::invalid_argument;
};
template <>
struct HandleKind<tutti_server_t> {
  static inline constinit HandleTable<ServerRecord> table{6};
  static constexpr const char* noun = "parameter server";
  static constexpr ErrorCode code = ErrorCode::invalid_argument;
};

[[nodiscard]] PowerSgdOptions power_sgd_options(const tutti_reducer_options_t& values);
[[nodiscard]] ReducerOptions options(const tutti_reducer_options_t* given);
[[nodiscard]] ParameterServerOptions options(const tutti_server_options_t* given);
[[nodiscard]] kernels::DenseUpdate update(const tutti_dense_update_t* given);
/// Makes a hook that calls C functions. Throws ErrorCode::invalid_argument if one is missing.
[[nodiscard]] std::shared_ptr<CommunicationHook> user_hook(const tutti_hook_t* given);

/// The object behind a handle; NULL, and a handle that stands for none, are refused.
template <typename Handle>
auto& whole(Handle handle, const char* argument) {
  if (handle == nullptr) throw_null(argument, "pass a handle made by a function that ends in _create");
  return record_of(handle, argument);
}

/// The caller's array; NULL is refused unless it has no elements.
template <typename T>
std::span<T> elements(T* data, std::size_t count, const char* argument) {
  if (count > 0 && data == nullptr) throw_null(argument, "pass an array");
  return {data, count};
}

/// Returns the size of a state in *bytes, and copies the state unless `data` is NULL.
void give_state(std::span<const std::byte> state, void* data, std::size_t capacity, std::size_t* bytes);

}  // namespace tutti::c
