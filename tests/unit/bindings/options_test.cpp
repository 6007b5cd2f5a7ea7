// SPDX-License-Identifier: BSD-3-Clause
// Each member of each options struct of C is set to a value of its own, and arrives in its member of C++. The
// structured bindings name all members: a new one does not compile until it is tested here.
#include <gtest/gtest.h>

#include "embedding_handles.hpp"
#include "training_handles.hpp"

namespace tutti::c {
namespace {

using namespace std::chrono_literals;

int something = 0;

TEST(COptions, OfACall) {
  tutti_options_t given = TUTTI_OPTIONS_INIT;
  auto& [size, version, stream_kind, stream, memory, accumulation, reproducible, timeout, algorithm] = given;
  EXPECT_EQ(size, sizeof given);
  EXPECT_EQ(version, TUTTI_OPTIONS_VERSION);
  stream_kind = TUTTI_STREAM_CUDA;
  stream = &something;
  memory = TUTTI_MEMORY_PINNED;
  accumulation = TUTTI_ACCUMULATION_BACKEND;
  reproducible = 1;
  timeout = 2.5;
  algorithm = "mpi:ring";
  const auto [to_stream, to_memory, to_timeout, to_algorithm, to_reproducible, to_accumulation] = options(&given);
  EXPECT_EQ(to_stream.kind, StreamKind::cuda);
  EXPECT_EQ(to_stream.handle, &something);
  EXPECT_EQ(to_memory, MemoryKind::pinned);
  EXPECT_EQ(to_timeout, 2500ms);
  EXPECT_EQ(to_algorithm, "mpi:ring");
  EXPECT_TRUE(to_reproducible);
  EXPECT_EQ(to_accumulation, Accumulation::backend);
}

TEST(COptions, OfACommunicator) {
  tutti_comm_options_t given = TUTTI_COMM_OPTIONS_INIT;
  auto& [size, version, reproducible, timeout, native_blocking, name, check] = given;
  EXPECT_EQ(size, sizeof given);
  EXPECT_EQ(version, TUTTI_COMM_OPTIONS_VERSION);
  timeout = 0.25;
  name = "of the bindings";
  for (const int which : {0, 1}) {
    reproducible = which;
    native_blocking = 1 - which;
    check = which == 1 ? TUTTI_CHECK_BYTES : TUTTI_CHECK_OFF;
    const auto [to_timeout, to_reproducible, to_native_blocking, to_name, to_check, to_nccl] = options(&given);
    EXPECT_EQ(to_timeout, 250ms);
    EXPECT_EQ(to_reproducible, which == 1);
    EXPECT_EQ(to_native_blocking, which == 0);
    EXPECT_EQ(to_name, "of the bindings");
    EXPECT_EQ(to_check, which == 1 ? CheckMode::bytes : CheckMode::off);
    EXPECT_EQ(to_nccl.max_ctas, 0) << "C sets NCCL's own variables instead";
  }
}

/// The members of a reducer's options that are switches, one at a time.
TEST(COptions, SwitchesOfAReducer) {
  for (int on = 0; on < 6; ++on) {
    tutti_reducer_options_t given = TUTTI_REDUCER_OPTIONS_INIT;
    given.rebuild = on == 0;
    given.find_unused = on == 1;
    given.uneven = on == 2;
    given.average_active = on == 3;
    given.check = on == 4;
    given.progress_thread = on == 5;
    const ReducerOptions result = options(&given);
    EXPECT_EQ(result.rebuild, on == 0);
    EXPECT_EQ(result.find_unused, on == 1);
    EXPECT_EQ(result.uneven, on == 2);
    EXPECT_EQ(result.average_active, on == 3);
    EXPECT_EQ(result.check, on == 4);
    EXPECT_EQ(result.progress_thread, on == 5);
  }
}

TEST(COptions, OfAReducer) {
  tutti_reducer_options_t given = TUTTI_REDUCER_OPTIONS_INIT;
  auto& [size, version, hook, bucket_bytes, first_bucket_bytes, op, rebuild, find_unused, uneven, average_active, check,
         communicators, progress_thread, power_sgd_rank, power_sgd_start_step, power_sgd_error_feedback,
         power_sgd_warm_start, power_sgd_min_compression_rate, power_sgd_seed, user_hook, memory, stream_kind, stream,
         first_number, blocks] = given;
  EXPECT_EQ(size, sizeof given);
  EXPECT_EQ(version, TUTTI_REDUCER_OPTIONS_VERSION);
  bucket_bytes = 1001;
  first_bucket_bytes = 102;
  op = TUTTI_SUM;
  communicators = 3;
  first_number = 4;
  blocks = 12;
  memory = TUTTI_MEMORY_DEVICE;
  stream_kind = TUTTI_STREAM_CUDA;
  stream = &something;
  const auto [to_bucket_bytes, to_first_bucket_bytes, to_op, to_rebuild, to_find_unused, to_uneven, to_average_active,
              to_check, to_communicators, to_progress_thread, to_hook, to_memory, to_stream, to_first_number,
              to_blocks] = options(&given);
  EXPECT_EQ(to_bucket_bytes, 1001U);
  EXPECT_EQ(to_first_bucket_bytes, 102U);
  EXPECT_EQ(to_op, ReduceKind::sum);
  EXPECT_EQ(to_communicators, 3U);
  EXPECT_EQ(to_first_number, 4U);
  EXPECT_EQ(to_blocks, 12U);
  EXPECT_EQ(to_hook, nullptr);
  EXPECT_EQ(to_memory, MemoryKind::device);
  EXPECT_EQ(to_stream.kind, StreamKind::cuda);
  EXPECT_EQ(to_stream.handle, &something);
  hook = TUTTI_HOOK_POWER_SGD;
  EXPECT_NE(options(&given).hook, nullptr);
  user_hook = nullptr;
  hook = TUTTI_HOOK_USER;
  EXPECT_THROW((void)options(&given), Error) << "a user's hook that is missing";
  power_sgd_rank = 5;
  power_sgd_start_step = 7;
  power_sgd_min_compression_rate = 1.5;
  power_sgd_seed = 99;
  for (const int which : {0, 1}) {
    power_sgd_error_feedback = which;
    power_sgd_warm_start = 1 - which;
    const auto [rank, start_step, min_compression_rate, error_feedback, warm_start, seed] = power_sgd_options(given);
    EXPECT_EQ(rank, 5U);
    EXPECT_EQ(start_step, 7U);
    EXPECT_EQ(min_compression_rate, 1.5);
    EXPECT_EQ(error_feedback, which == 1);
    EXPECT_EQ(warm_start, which == 0);
    EXPECT_EQ(seed, 99U);
  }
}

TEST(COptions, OfADenseOptimizer) {
  tutti_dense_update_t given = TUTTI_DENSE_UPDATE_INIT;
  auto& [size, version, optimizer, learning_rate, momentum, weight_decay, beta1, beta2, epsilon, nesterov] = given;
  EXPECT_EQ(size, sizeof given);
  EXPECT_EQ(version, TUTTI_DENSE_UPDATE_VERSION);
  optimizer = TUTTI_DENSE_ADAM;
  learning_rate = 0.5;
  momentum = 0.25;
  weight_decay = 0.125;
  beta1 = 0.75;
  beta2 = 0.875;
  epsilon = 1e-3;
  nesterov = 1;
  const auto [to_optimizer, to_learning_rate, to_momentum, to_nesterov, to_weight_decay, to_beta1, to_beta2,
              to_epsilon] = update(&given);
  EXPECT_EQ(to_optimizer, kernels::DenseOptimizer::adam);
  EXPECT_EQ(to_learning_rate, 0.5);
  EXPECT_EQ(to_momentum, 0.25);
  EXPECT_TRUE(to_nesterov);
  EXPECT_EQ(to_weight_decay, 0.125);
  EXPECT_EQ(to_beta1, 0.75);
  EXPECT_EQ(to_beta2, 0.875);
  EXPECT_EQ(to_epsilon, 1e-3);
}

TEST(COptions, OfAServer) {
  tutti_server_options_t given = TUTTI_SERVER_OPTIONS_INIT;
  auto& [size, version, optimizer, epsilon, direct] = given;
  EXPECT_EQ(size, sizeof given);
  EXPECT_EQ(version, TUTTI_SERVER_OPTIONS_VERSION);
  optimizer = TUTTI_SERVER_ROW_WISE_ADAGRAD;
  epsilon = 0.5F;
  direct = 0;
  const auto [to_optimizer, to_epsilon, to_direct] = options(&given);
  EXPECT_EQ(to_optimizer, ServerOptimizer::row_wise_adagrad);
  EXPECT_EQ(to_epsilon, 0.5F);
  EXPECT_FALSE(to_direct);
}

TEST(COptions, OfEmbeddingTables) {
  tutti_embedding_options_t given = TUTTI_EMBEDDING_OPTIONS_INIT;
  auto& [size, version, optimizer, epsilon, beta1, beta2, max_batch, slots, memory_limit, seed, policy,
         stochastic_rounding, weighted, memory, stream_kind, stream, epsilon_hat, grow, exchange_datatype, table_memory,
         table_folder] = given;
  EXPECT_EQ(size, sizeof given);
  EXPECT_EQ(version, TUTTI_EMBEDDING_OPTIONS_VERSION);
  optimizer = TUTTI_ROWS_ADAM;
  epsilon = 0.5;
  beta1 = 0.75;
  beta2 = 0.875;
  max_batch = 11;
  slots = 3;
  memory_limit = 12345;
  seed = 77;
  policy = TUTTI_INDEX_IGNORE;
  memory = TUTTI_MEMORY_DEVICE;
  stream_kind = TUTTI_STREAM_CUDA;
  stream = &something;
  exchange_datatype = TUTTI_BFLOAT16;
  table_memory = 54321;
  table_folder = "a folder";
  for (const int which : {0, 1}) {
    stochastic_rounding = which;
    weighted = 1 - which;
    epsilon_hat = which;
    grow = 1 - which;
    const auto [to_optimizer, to_epsilon, to_beta1, to_beta2, to_rounding, to_policy, to_max_batch, to_slots,
                to_weighted, to_seed, to_memory, to_stream, to_epsilon_hat, to_grow, to_exchange_type, to_table_memory,
                to_table_folder] = embedding_options(&given);
    EXPECT_EQ(to_optimizer, kernels::RowOptimizer::adam);
    EXPECT_EQ(to_epsilon, 0.5F);
    EXPECT_EQ(to_beta1, 0.75);
    EXPECT_EQ(to_beta2, 0.875);
    EXPECT_EQ(to_rounding, which == 1 ? kernels::Rounding::stochastic : kernels::Rounding::nearest);
    EXPECT_EQ(to_policy, kernels::IndexPolicy::ignore);
    EXPECT_EQ(to_max_batch, 11U);
    EXPECT_EQ(to_slots, 3U);
    EXPECT_EQ(to_weighted, which == 0);
    EXPECT_EQ(to_epsilon_hat, which == 1);
    EXPECT_EQ(to_grow, which == 0);
    EXPECT_EQ(to_exchange_type, DatatypeKind::bfloat16);
    EXPECT_EQ(to_table_memory, 54321U);
    EXPECT_EQ(to_table_folder, "a folder");
    EXPECT_EQ(to_seed, 77U);
    EXPECT_EQ(to_memory, MemoryKind::device);
    EXPECT_EQ(to_stream.handle, &something);
  }
  const auto [batch, limit, planned_optimizer, planned_exchange_type] = planner_options(&given);
  EXPECT_EQ(batch, 11U);
  EXPECT_EQ(limit, 12345U);
  EXPECT_EQ(planned_optimizer, kernels::RowOptimizer::adam);
  EXPECT_EQ(planned_exchange_type, DatatypeKind::bfloat16);
}

TEST(COptions, OfATable) {
  tutti_embedding_table_t given{};
  const std::array shares = {3.0, 1.0};
  auto& [name, rows, dim, datatype, pooling, sharding, mean_lookups, lookup_shares, share_count, row_order,
         frequencies] = given;
  name = "t";
  rows = 21;
  dim = 8;
  datatype = TUTTI_BFLOAT16;
  pooling = TUTTI_POOLING_MAX;
  sharding = TUTTI_SHARDING_ROW_WISE_ON_NODE;
  mean_lookups = 2.5;
  lookup_shares = shares.data();
  share_count = shares.size();
  row_order = TUTTI_ROW_ORDER_CYCLIC;
  const std::array<std::int64_t, 2> hot_rows = {5, 2};
  const std::array hot_lookups = {9.0, 8.0};
  const std::array bucket_rows = {7.0};
  const std::array bucket_lookups = {14.0};
  tutti_row_frequencies_t counts{hot_rows.data(),    hot_lookups.data(),    hot_rows.size(),
                                 bucket_rows.data(), bucket_lookups.data(), bucket_rows.size()};
  frequencies = &counts;
  const auto [to_name, to_rows, to_dim, to_type, to_pooling, to_mean_lookups, to_sharding, to_shares, to_order,
              to_frequencies] = table_configs(std::span(&given, 1)).front();
  EXPECT_EQ(to_name, "t");
  EXPECT_EQ(to_rows, 21);
  EXPECT_EQ(to_dim, 8U);
  EXPECT_EQ(to_type, DatatypeKind::bfloat16);
  EXPECT_EQ(to_pooling, kernels::Pooling::max);
  EXPECT_EQ(to_mean_lookups, 2.5);
  EXPECT_EQ(to_sharding, Sharding::row_wise_on_node);
  EXPECT_EQ(to_shares, std::vector<double>({3, 1}));
  EXPECT_EQ(to_order, RowOrder::cyclic);
  EXPECT_EQ(to_frequencies.hot_rows, std::vector<std::int64_t>({5, 2}));
  EXPECT_EQ(to_frequencies.hot_lookups, std::vector<double>({9, 8}));
  EXPECT_EQ(to_frequencies.bucket_rows, std::vector<double>({7}));
  EXPECT_EQ(to_frequencies.bucket_lookups, std::vector<double>({14}));
  counts.bucket_lookups = nullptr;
  EXPECT_THROW((void)table_configs(std::span(&given, 1)), Error);
  frequencies = nullptr;
  EXPECT_TRUE(table_configs(std::span(&given, 1)).front().frequencies.empty());
  row_order = TUTTI_ROW_ORDER_CYCLIC + 1;
  EXPECT_THROW((void)table_configs(std::span(&given, 1)), Error);
  row_order = TUTTI_ROW_ORDER_BLOCKS;
  lookup_shares = nullptr;
  EXPECT_THROW((void)table_configs(std::span(&given, 1)), Error);
}

}  // namespace
}  // namespace tutti::c
