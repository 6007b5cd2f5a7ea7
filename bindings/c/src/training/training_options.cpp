// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "structs.hpp"
#include "training_handles.hpp"

namespace tutti::c {
namespace {

constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();

std::size_t number(std::int32_t value, std::int32_t least, const char* member) {
  return static_cast<std::size_t>(within(value, least, most, options_argument, member));
}

std::shared_ptr<CommunicationHook> hook(const tutti_reducer_options_t& values) {
  switch (values.hook) {
    case TUTTI_HOOK_NONE:
      return nullptr;
    case TUTTI_HOOK_BF16:
      return bf16_hook();
    case TUTTI_HOOK_FP16:
      return fp16_hook();
    case TUTTI_HOOK_POWER_SGD:
      return power_sgd_hook(power_sgd_options(values));
    case TUTTI_HOOK_SHARDING:
      return sharding_hook();
    case TUTTI_HOOK_USER:
      return user_hook(values.user_hook);
    default:
      refuse_member(options_argument, "hook", fmt::format("is {}; pass a TUTTI_HOOK_ number", values.hook));
  }
}

ReduceKind op(tutti_op_t given) {
  if (given == TUTTI_AVG) return ReduceKind::avg;
  if (given == TUTTI_SUM) return ReduceKind::sum;
  refuse_member(options_argument, "op", fmt::format("is {}; pass TUTTI_AVG or TUTTI_SUM", tutti_op_name(given)));
}

}  // namespace

PowerSgdOptions power_sgd_options(const tutti_reducer_options_t& values) {
  PowerSgdOptions result;
  result.rank = number(values.power_sgd_rank, 1, "power_sgd_rank");
  result.start_step = number(values.power_sgd_start_step, 0, "power_sgd_start_step");
  result.min_compression_rate = values.power_sgd_min_compression_rate;
  result.error_feedback = values.power_sgd_error_feedback != 0;
  result.warm_start = values.power_sgd_warm_start != 0;
  result.seed = values.power_sgd_seed;
  return result;
}

ReducerOptions options(const tutti_reducer_options_t* given) {
  if (given == nullptr) return {};
  const auto values = read_struct(given, tutti_reducer_options_t TUTTI_REDUCER_OPTIONS_INIT,
                                  TUTTI_REDUCER_OPTIONS_VERSION, options_argument, "TUTTI_REDUCER_OPTIONS_INIT");
  ReducerOptions result;
  result.bucket_bytes = values.bucket_bytes;
  result.first_bucket_bytes = values.first_bucket_bytes;
  result.op = op(values.op);
  result.rebuild = values.rebuild != 0;
  result.find_unused = values.find_unused != 0;
  result.uneven = values.uneven != 0;
  result.average_active = values.average_active != 0;
  result.check = values.check != 0;
  result.communicators = number(values.communicators, 1, "communicators");
  result.progress_thread = values.progress_thread != 0;
  result.hook = hook(values);
  result.memory = memory_of(values, options_argument);
  result.stream = stream_of(values, options_argument);
  result.first_number = number(values.first_number, 0, "first_number");
  result.blocks = values.blocks;
  return result;
}

ParameterServerOptions options(const tutti_server_options_t* given) {
  if (given == nullptr) return {};
  const auto values = read_struct(given, tutti_server_options_t TUTTI_SERVER_OPTIONS_INIT, TUTTI_SERVER_OPTIONS_VERSION,
                                  options_argument, "TUTTI_SERVER_OPTIONS_INIT");
  ParameterServerOptions result;
  result.optimizer = static_cast<ServerOptimizer>(
      within<std::int32_t>(values.optimizer, 0, TUTTI_SERVER_ROW_WISE_ADAGRAD, options_argument, "optimizer"));
  result.epsilon = values.epsilon;
  result.direct = values.direct != 0;
  return result;
}

kernels::DenseUpdate update(const tutti_dense_update_t* given) {
  if (given == nullptr) throw_null("update", "pass a struct initialised with TUTTI_DENSE_UPDATE_INIT");
  const auto values = read_struct(given, tutti_dense_update_t TUTTI_DENSE_UPDATE_INIT, TUTTI_DENSE_UPDATE_VERSION,
                                  "update", "TUTTI_DENSE_UPDATE_INIT");
  kernels::DenseUpdate result;
  result.optimizer = static_cast<kernels::DenseOptimizer>(
      within<std::int32_t>(values.optimizer, 0, TUTTI_DENSE_ADAM, "update", "optimizer"));
  result.learning_rate = values.learning_rate;
  result.momentum = values.momentum;
  result.nesterov = values.nesterov != 0;
  result.weight_decay = values.weight_decay;
  result.beta1 = values.beta1;
  result.beta2 = values.beta2;
  result.epsilon = values.epsilon;
  return result;
}

}  // namespace tutti::c
