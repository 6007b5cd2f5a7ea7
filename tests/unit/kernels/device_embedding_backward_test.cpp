// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/error.hpp>

#include "device_embedding_case.hpp"

// Updates on device memory have the host's bits: optimizers, types of rows, roundings, poolings, policies, weights.
namespace {

using namespace device_test;

class DeviceBackward : public Device {
 protected:
  void compare(const BatchSettings& settings, const RowUpdate& update, const EmbeddingOptions& options,
               std::size_t surplus = 0) {
    EmbeddingBatch batch(runtime, settings, update.optimizer);
    EmbeddingWorkspace host_workspace;
    RowUpdate step = update;
    for (step.step = 1; step.step <= 2; ++step.step) {
      embedding_bag_backward(batch.host.tables, batch.host.lookups, settings.index_type, settings.bags,
                             batch.host.gradients, batch.host.states, step, options, host_workspace);
      kernels::device::embedding_bag_backward(batch.device.tables, batch.device.lookups, settings.index_type,
                                              settings.bags, batch.indices.size() + surplus, batch.device.gradients,
                                              batch.device.states, step, options, nullptr, workspace, stream);
    }
    runtime.run_all();
    batch.expect_same_tables(batch.text() + " optimizer " + std::to_string(static_cast<int>(update.optimizer)) +
                             " rounding " + std::to_string(static_cast<int>(update.rounding)) + " pooling " +
                             std::to_string(static_cast<int>(options.pooling)) + " policy " +
                             std::to_string(static_cast<int>(options.policy)));
  }

  void compare_sharded(const BatchSettings& settings, const EmbeddingOptions& options) {
    RowUpdate update{RowOptimizer::row_wise_adagrad, 0.05F};
    EmbeddingBatch batch(runtime, settings, update.optimizer);
    for (Side* side : {&batch.host, &batch.device})
      for (EmbeddingTable& table : side->tables) table.place.whole_columns = 2 * settings.dim;
    update_host(batch, update, options);
    const std::size_t surplus = 5;
    const auto sums = make<double>(batch.indices.size());
    std::vector<double*> squares;
    for (std::size_t t = 0; t < settings.types.size(); ++t)
      squares.push_back(sums.data() + batch.offsets[t * settings.bags]);
    const auto& d = batch.device;
    const std::size_t indices = batch.indices.size() + surplus;
    kernels::device::embedding_row_squares(d.tables, d.lookups, settings.index_type, settings.bags, indices,
                                           d.gradients, options, nullptr, workspace, stream, squares);
    const std::vector<const void*> twice(2, sums.data());
    kernels::device::combine(DatatypeKind::float64, sum, twice, sums.data(), batch.indices.size(), stream);
    kernels::device::embedding_bag_backward(d.tables, d.lookups, settings.index_type, settings.bags, indices,
                                            d.gradients, d.states, update, options, nullptr, workspace, stream,
                                            squares);
    runtime.run_all();
    batch.expect_same_tables(batch.text() + " sharded, pooling " + std::to_string(static_cast<int>(options.pooling)));
  }

  static void update_host(EmbeddingBatch& batch, const RowUpdate& update, const EmbeddingOptions& options) {
    const auto& h = batch.host;
    EmbeddingWorkspace host_workspace;
    std::vector<RowSquares> squares(h.tables.size());
    embedding_row_squares(h.tables, h.lookups, batch.s.index_type, batch.s.bags, h.gradients, options, host_workspace,
                          squares);
    for (RowSquares& found : squares)
      for (double& each : found.sums) each += each;
    embedding_bag_backward(h.tables, h.lookups, batch.s.index_type, batch.s.bags, h.gradients, h.states, update,
                           options, host_workspace, squares);
  }

  kernels::device::Workspace workspace;
};

const EmbeddingOptions checked{Pooling::sum, IndexPolicy::fatal, true, 1};

TEST_F(DeviceBackward, AllOptimizersTypesAndRoundings) {
  for (const DatatypeKind type : row_types) {
    for (const RowOptimizer optimizer :
         {RowOptimizer::sgd, RowOptimizer::adagrad, RowOptimizer::row_wise_adagrad, RowOptimizer::adam}) {
      for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic}) {
        for (const std::size_t dim : {1U, 16U, 37U, 128U}) {
          for (const std::size_t padding : {0U, 3U}) {
            BatchSettings settings;
            settings.types = {type, type, type};
            settings.dim = dim;
            settings.padding = padding;
            RowUpdate update{optimizer, 0.05F};
            update.rounding = rounding;
            update.seed = 99;
            compare(settings, update, checked);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_F(DeviceBackward, PoolingsPoliciesAndWeights) {
  for (const IndexPolicy policy : {IndexPolicy::clamp, IndexPolicy::ignore}) {
    for (const Pooling pooling : {Pooling::sum, Pooling::mean, Pooling::max}) {
      for (const bool weighted : {false, true}) {
        if (weighted && pooling == Pooling::max) continue;
        BatchSettings settings;
        settings.stray_indices = true;
        settings.weighted = weighted;
        settings.longest_bag = 15;
        settings.index_type = weighted ? IndexType::int32 : IndexType::int64;
        compare(settings, {RowOptimizer::adagrad, 0.05F}, {pooling, policy, false, 1}, weighted ? 1000 : 0);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(DeviceBackward, ManyOccurrencesOfFewRowsAndTablesOfSeveralTypes) {
  BatchSettings settings;
  settings.types = {DatatypeKind::float16, DatatypeKind::float32, DatatypeKind::uint8, DatatypeKind::float32,
                    DatatypeKind::bfloat16};
  settings.rows = {2, 70000, 3, 1, 500};
  settings.dim = 24;
  settings.bags = 3000;
  settings.longest_bag = 3;
  compare(settings, {RowOptimizer::row_wise_adagrad, 0.05F}, checked);
  compare(settings, {RowOptimizer::sgd, 0.05F}, checked);
  settings.dim = 7000;
  settings.rows = {2, 70, 3, 1, 50};
  settings.bags = 400;
  compare(settings, {RowOptimizer::sgd, 0.05F}, checked);
}

TEST_F(DeviceBackward, MaximaOfRowsOfAllTypes) {
  for (const DatatypeKind type : row_types) {
    BatchSettings settings;
    settings.types = {type, type};
    settings.rows = {40, 2};
    settings.bags = 700;
    settings.longest_bag = 3;
    compare(settings, {RowOptimizer::sgd, 0.05F}, {Pooling::max, IndexPolicy::fatal, true, 1});
  }
}

TEST_F(DeviceBackward, NothingToDo) {
  BatchSettings settings;
  settings.bags = 0;
  compare(settings, {}, checked);
  settings.bags = 4;
  settings.longest_bag = 0;
  compare(settings, {}, checked, 3);
}

/// A shard of columns: the squares of all shards are twice as large as its own, in this test.
TEST_F(DeviceBackward, SquaresOfShardedColumns) {
  for (const DatatypeKind type : row_types) {
    for (const int longest_bag : {6, 300}) {
      BatchSettings settings;
      settings.types = {type, type, type};
      settings.longest_bag = longest_bag;
      compare_sharded(settings, {Pooling::sum, IndexPolicy::fatal, true, 1});
      settings.padding = 3;
      settings.weighted = true;
      compare_sharded(settings, {Pooling::mean, IndexPolicy::fatal, true, 1});
      settings.weighted = false;
      compare_sharded(settings, {Pooling::max, IndexPolicy::fatal, true, 1});
    }
  }
}

TEST_F(DeviceBackward, RowsThatDoNotFitIntoTheScratchAreRefusedWithTheBound) {
  constexpr std::size_t most = 10028;
  BatchSettings settings;
  settings.types = {DatatypeKind::uint8, DatatypeKind::float32};
  settings.rows = {3, 5};
  settings.bags = 200;
  settings.longest_bag = 1;
  for (const std::size_t dim : {most, most + 4}) {
    settings.dim = dim;
    for (const RowOptimizer optimizer : {RowOptimizer::sgd, RowOptimizer::row_wise_adagrad}) {
      if (dim == most) {
        compare(settings, {optimizer, 0.05F}, checked);
        continue;
      }
      try {
        compare(settings, {optimizer, 0.05F}, checked);
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::not_supported);
        EXPECT_NE(std::string(error.what()).find("table 0 has 10032 columns"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("at most 10028"), std::string::npos) << error.what();
      }
    }
  }
  settings.types = {DatatypeKind::float32};
  settings.rows = {3};
  settings.dim = 16384;
  compare(settings, {RowOptimizer::adam, 0.05F}, checked);
}

TEST_F(DeviceBackward, RefusesWhatHasNoKernel) {
  EmbeddingBatch batch(runtime, {});
  const auto call = [&](const RowUpdate& update, const EmbeddingOptions& options) {
    kernels::device::embedding_bag_backward(batch.device.tables, batch.device.lookups, IndexType::int64, batch.s.bags,
                                            batch.indices.size(), batch.device.gradients, {}, update, options, nullptr,
                                            workspace, stream);
  };
  EXPECT_THROW(call({}, {}), Error) << "fatal without a status";
  EXPECT_THROW(call({RowOptimizer::adagrad}, checked), Error) << "no states";
  batch.device.tables[0].place = {0, 0, 0, 64};
  RowUpdate row_wise{RowOptimizer::row_wise_adagrad};
  const auto divided = [&](std::span<double* const> squares) {
    kernels::device::embedding_bag_backward(batch.device.tables, batch.device.lookups, IndexType::int64, batch.s.bags,
                                            batch.indices.size(), batch.device.gradients, batch.device.states, row_wise,
                                            checked, nullptr, workspace, stream, squares);
  };
  EXPECT_THROW(divided({}), Error) << "sharded columns without squares";
  EXPECT_THROW(divided(std::vector<double*>(3, nullptr)), Error) << "the same";
  EXPECT_THROW(divided(std::vector<double*>(2, nullptr)), Error) << "of other tables";
  const auto sized = [&](std::size_t bags, std::size_t indices) {
    kernels::device::embedding_bag_backward(batch.device.tables, batch.device.lookups, IndexType::int64, bags, indices,
                                            batch.device.gradients, {}, {}, checked, nullptr, workspace, stream);
  };
  EXPECT_THROW(sized(std::size_t{1} << 32U, batch.indices.size()), Error) << "bags";
  EXPECT_THROW(sized(batch.s.bags, std::size_t{1} << 32U), Error) << "indices";
  batch.device.tables[0].rows = 0xffffffffLL;
  EXPECT_THROW(call({}, checked), Error);
}

}  // namespace
