// SPDX-License-Identifier: BSD-3-Clause
// Stands for functions of the library, which the program finds here first: each looks at the options that options.f90
// gives it. The structured bindings name all members: a new one does not compile until it is given and looked at.
#include <tutti/tutti.h>

#include <string>

namespace {

int place = 0;

/// Notes the first member that has another value than it was given.
class Look {
 public:
  template <typename A, typename B>
  Look& at(const char* member, const A& got, const B& given) {
    if (got != given && wrong_.empty()) wrong_ = std::string("member ") + member + " has another value";
    return *this;
  }
  [[nodiscard]] int done() const {
    return tutti_error_set(TUTTI_ERROR_NOT_SUPPORTED, wrong_.empty() ? "recorded" : wrong_.c_str());
  }

 private:
  std::string wrong_;
};

std::string text(const char* letters) { return letters == nullptr ? "" : letters; }

}  // namespace

extern "C" {

void* recorded_place() { return &place; }

int tutti_barrier(tutti_comm_t /*comm*/, const tutti_options_t* options) {
  const auto& [size, version, stream_kind, stream, memory, accumulation, reproducible, timeout, algorithm] = *options;
  return Look()
      .at("size", size, sizeof(tutti_options_t))
      .at("version", version, TUTTI_OPTIONS_VERSION)
      .at("stream_kind", stream_kind, TUTTI_STREAM_CUDA)
      .at("stream", stream, recorded_place())
      .at("memory", memory, TUTTI_MEMORY_PINNED)
      .at("accumulation", accumulation, TUTTI_ACCUMULATION_BACKEND)
      .at("reproducible", reproducible, 1)
      .at("timeout", timeout, 2.5)
      .at("algorithm", text(algorithm), "mpi:ring")
      .done();
}

int tutti_comm_create_f(tutti_fint_t /*mpi_comm*/, int /*ownership*/, const tutti_comm_options_t* options,
                        tutti_comm_t* /*comm*/) {
  const auto& [size, version, reproducible, timeout, native_blocking, name, check] = *options;
  return Look()
      .at("size", size, sizeof(tutti_comm_options_t))
      .at("version", version, TUTTI_COMM_OPTIONS_VERSION)
      .at("reproducible", reproducible, text(name) == "reproducible" ? 1 : 0)
      .at("timeout", timeout, 0.25)
      .at("native_blocking", native_blocking, text(name) == "native_blocking" ? 1 : 0)
      .at("name", text(name).empty(), false)
      .at("check", check, text(name) == "check" ? TUTTI_CHECK_BYTES : TUTTI_CHECK_OFF)
      .done();
}

#if TUTTI_HAS_TRAINING
int tutti_reducer_create(tutti_comm_t /*comm*/, const tutti_reducer_options_t* options, tutti_reducer_t* /*reducer*/) {
  const auto& [size, version, hook, bucket_bytes, first_bucket_bytes, op, rebuild, find_unused, uneven, average_active,
               check, communicators, progress_thread, power_sgd_rank, power_sgd_start_step, power_sgd_error_feedback,
               power_sgd_warm_start, power_sgd_min_compression_rate, power_sgd_seed, user_hook, memory, stream_kind,
               stream, first_number, blocks] = *options;
  const auto is_on = [switch_on = communicators](int number) { return switch_on == number ? 1 : 0; };
  return Look()
      .at("size", size, sizeof(tutti_reducer_options_t))
      .at("version", version, TUTTI_REDUCER_OPTIONS_VERSION)
      .at("hook", hook, TUTTI_HOOK_POWER_SGD)
      .at("bucket_bytes", bucket_bytes, 1001U)
      .at("first_bucket_bytes", first_bucket_bytes, 102U)
      .at("op", op, TUTTI_SUM)
      .at("communicators", communicators >= 1 && communicators <= 8, true)
      .at("rebuild", rebuild, is_on(1))
      .at("find_unused", find_unused, is_on(2))
      .at("uneven", uneven, is_on(3))
      .at("average_active", average_active, is_on(4))
      .at("check", check, is_on(5))
      .at("progress_thread", progress_thread, is_on(6))
      .at("power_sgd_error_feedback", power_sgd_error_feedback, is_on(7))
      .at("power_sgd_warm_start", power_sgd_warm_start, is_on(8))
      .at("power_sgd_rank", power_sgd_rank, 5)
      .at("power_sgd_start_step", power_sgd_start_step, 7)
      .at("power_sgd_min_compression_rate", power_sgd_min_compression_rate, 1.5)
      .at("power_sgd_seed", power_sgd_seed, 99U)
      .at("user_hook", static_cast<const void*>(user_hook), static_cast<const void*>(recorded_place()))
      .at("memory", memory, TUTTI_MEMORY_DEVICE)
      .at("stream_kind", stream_kind, TUTTI_STREAM_CUDA)
      .at("stream", stream, recorded_place())
      .at("first_number", first_number, 1)
      .at("blocks", blocks, 12U)
      .done();
}

int tutti_optimizer_create(tutti_reducer_t /*reducer*/, const tutti_dense_update_t* update,
                           tutti_optimizer_t* /*optimizer*/) {
  const auto& [size, version, optimizer, learning_rate, momentum, weight_decay, beta1, beta2, epsilon, nesterov] =
      *update;
  return Look()
      .at("size", size, sizeof(tutti_dense_update_t))
      .at("version", version, TUTTI_DENSE_UPDATE_VERSION)
      .at("optimizer", optimizer, TUTTI_DENSE_ADAM)
      .at("learning_rate", learning_rate, 0.5)
      .at("momentum", momentum, 0.25)
      .at("weight_decay", weight_decay, 0.125)
      .at("beta1", beta1, 0.75)
      .at("beta2", beta2, 0.875)
      .at("epsilon", epsilon, 1e-3)
      .at("nesterov", nesterov, 1)
      .done();
}

int tutti_server_create(tutti_comm_t /*comm*/, int64_t rows, size_t dim, const tutti_server_options_t* options,
                        tutti_server_t* /*server*/) {
  const auto& [size, version, optimizer, epsilon, direct] = *options;
  return Look()
      .at("rows", rows, 4)
      .at("dim", dim, 2U)
      .at("size", size, sizeof(tutti_server_options_t))
      .at("version", version, TUTTI_SERVER_OPTIONS_VERSION)
      .at("optimizer", optimizer, TUTTI_SERVER_ROW_WISE_ADAGRAD)
      .at("epsilon", epsilon, 0.5F)
      .at("direct", direct, 0)
      .done();
}

int tutti_embedding_create(tutti_comm_t /*comm*/, const tutti_embedding_table_t* tables, size_t count,
                           const tutti_embedding_options_t* options, tutti_embedding_t* /*collection*/) {
  const auto& [name, rows, dim, datatype, pooling, sharding, mean_lookups, lookup_shares, share_count, row_order,
               frequencies] = *tables;
  const auto& [hot_rows, hot_lookups, hot_count, bucket_rows, bucket_lookups, bucket_count] = *frequencies;
  const auto& [size, version, optimizer, epsilon, beta1, beta2, max_batch, slots, memory_limit, seed, policy,
               stochastic_rounding, weighted, memory, stream_kind, stream, epsilon_hat, grow, exchange_datatype,
               table_memory, table_folder] = *options;
  return Look()
      .at("count", count, 1U)
      .at("name", text(name), "t")
      .at("rows", rows, 21)
      .at("dim", dim, 8U)
      .at("datatype", datatype, TUTTI_BFLOAT16)
      .at("pooling", pooling, TUTTI_POOLING_MAX)
      .at("sharding", sharding, TUTTI_SHARDING_ROW_WISE_ON_NODE)
      .at("mean_lookups", mean_lookups, 2.5)
      .at("lookup_shares", share_count == 2 && lookup_shares[0] == 3 && lookup_shares[1] == 1, true)
      .at("row_order", row_order, TUTTI_ROW_ORDER_CYCLIC)
      .at("hot_rows", hot_count == 2 && hot_rows[0] == 5 && hot_rows[1] == 2, true)
      .at("hot_lookups", hot_lookups[0] == 9 && hot_lookups[1] == 8, true)
      .at("bucket_rows", bucket_count == 1 && bucket_rows[0] == 7, true)
      .at("bucket_lookups", bucket_lookups[0] == 14, true)
      .at("size", size, sizeof(tutti_embedding_options_t))
      .at("version", version, TUTTI_EMBEDDING_OPTIONS_VERSION)
      .at("optimizer", optimizer, TUTTI_ROWS_ADAM)
      .at("epsilon", epsilon, 0.5)
      .at("beta1", beta1, 0.75)
      .at("beta2", beta2, 0.875)
      .at("max_batch", max_batch, 11U)
      .at("slots", slots == 1 || slots == 2, true)
      .at("memory_limit", memory_limit, 12345U)
      .at("seed", seed, 77U)
      .at("policy", policy, TUTTI_INDEX_IGNORE)
      .at("stochastic_rounding", stochastic_rounding, slots == 1 ? 1 : 0)
      .at("weighted", weighted, slots == 2 ? 1 : 0)
      .at("epsilon_hat", epsilon_hat, slots == 1 ? 1 : 0)
      .at("grow", grow, slots == 2 ? 1 : 0)
      .at("exchange_datatype", exchange_datatype, TUTTI_FLOAT16)
      .at("table_memory", table_memory, 54321U)
      .at("table_folder", text(table_folder), "a folder")
      .at("memory", memory, TUTTI_MEMORY_DEVICE)
      .at("stream_kind", stream_kind, TUTTI_STREAM_CUDA)
      .at("stream", stream, recorded_place())
      .done();
}
#endif

}  // extern "C"
