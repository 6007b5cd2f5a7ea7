// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/error.hpp>

#include "device_embedding_case.hpp"

// Lookups on device memory have the host's bits: types of rows, widths, policies, weights, several types in a call.
namespace {

using namespace device_test;

class DeviceForward : public Device {
 protected:
  void compare(const BatchSettings& settings, const EmbeddingOptions& options) {
    EmbeddingBatch batch(runtime, settings);
    auto status = upload(std::vector<kernels::device::IndexStatus>(1));
    const std::size_t outside = embedding_bag_forward(batch.host.tables, batch.host.lookups, settings.index_type,
                                                      settings.bags, batch.host.outputs, options);
    kernels::device::embedding_bag_forward(batch.device.tables, batch.device.lookups, settings.index_type,
                                           settings.bags, batch.device.outputs, options, status.data(), workspace,
                                           stream);
    runtime.run_all();
    const std::string what = batch.text() + " pooling " + std::to_string(static_cast<int>(options.pooling)) +
                             " policy " + std::to_string(static_cast<int>(options.policy));
    expect_same_bits(batch.device_floats[0].values(), batch.output, what);
    EXPECT_EQ(status.values()[0].outside, outside) << what;
  }

  kernels::device::Workspace workspace;
};

TEST_F(DeviceForward, AllTypesWidthsAndPoolings) {
  for (const DatatypeKind type : row_types) {
    for (const std::size_t dim : {1U, 4U, 16U, 31U, 64U, 128U}) {
      for (const std::size_t padding : {0U, 3U}) {
        for (const Pooling pooling : {Pooling::sum, Pooling::mean, Pooling::max}) {
          BatchSettings settings;
          settings.types = {type, type, type};
          settings.dim = dim;
          settings.padding = padding;
          settings.weighted = padding > 0 && pooling != Pooling::max;
          settings.index_type = dim % 2 == 0 ? IndexType::int32 : IndexType::int64;
          compare(settings, {pooling, IndexPolicy::fatal, true, 1});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(DeviceForward, PoliciesCountWhatIsOutside) {
  for (const IndexPolicy policy : {IndexPolicy::clamp, IndexPolicy::ignore}) {
    for (const Pooling pooling : {Pooling::sum, Pooling::mean, Pooling::max}) {
      for (const std::size_t dim : {7U, 128U}) {
        BatchSettings settings;
        settings.dim = dim;
        settings.stray_indices = true;
        settings.longest_bag = 20;
        compare(settings, {pooling, policy, false, 1});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(DeviceForward, TablesOfSeveralTypesAndLongBags) {
  BatchSettings settings;
  settings.types = {DatatypeKind::bfloat16, DatatypeKind::float32, DatatypeKind::uint8, DatatypeKind::float32};
  settings.rows = {1000, 5, 300, 20000};
  settings.dim = 32;
  settings.longest_bag = 90;
  settings.bags = 64;
  compare(settings, {Pooling::mean, IndexPolicy::fatal, false, 1});
}

/// Of so many a lane takes four at a time; their number is none of fours.
TEST_F(DeviceForward, ManyBags) {
  constexpr std::size_t lanes = std::size_t{1} << 20U;
  for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::uint8}) {
    const std::size_t pieces = type == DatatypeKind::float32 ? 4 : 1;
    BatchSettings settings;
    settings.types = {type};
    settings.rows = {70};
    settings.dim = 16;
    settings.bags = lanes / pieces + 3;
    settings.longest_bag = 2;
    settings.stray_indices = true;
    settings.weighted = true;
    compare(settings, {Pooling::mean, IndexPolicy::ignore, false, 1});
  }
}

TEST_F(DeviceForward, NothingToDo) {
  BatchSettings settings;
  settings.bags = 0;
  compare(settings, {});
  settings.bags = 5;
  settings.longest_bag = 0;
  compare(settings, {});
  settings.types = {};
  settings.rows = {};
  compare(settings, {});
}

TEST_F(DeviceForward, AFatalIndexStopsTheCallAndIsNamed) {
  BatchSettings settings;
  settings.longest_bag = 3;
  EmbeddingBatch batch(runtime, settings);
  const std::size_t first = static_cast<std::size_t>(batch.offsets[settings.bags + 4]);
  std::size_t bag = settings.bags + 4;
  while (batch.offsets[bag + 1] == static_cast<std::int64_t>(first)) ++bag;
  batch.device_longs[1].set(first, 3);
  batch.device_longs[1].set(batch.indices.size() - 1, -5);
  auto status = upload(std::vector<kernels::device::IndexStatus>(1));
  const auto before = batch.device_floats[0].values();
  kernels::device::embedding_bag_forward(batch.device.tables, batch.device.lookups, IndexType::int64, settings.bags,
                                         batch.device.outputs, {}, status.data(), workspace, stream);
  kernels::device::embedding_bag_backward(batch.device.tables, batch.device.lookups, IndexType::int64, settings.bags,
                                          batch.indices.size(), batch.device.gradients, {}, {}, {}, status.data(),
                                          workspace, stream);
  runtime.run_all();
  expect_same_bits(batch.device_floats[0].values(), before, "outputs");
  batch.expect_same_tables("nothing updated");
  const auto found = status.values()[0];
  EXPECT_EQ(found.outside, 2U);
  EXPECT_EQ(found.table, 1U);
  EXPECT_EQ(found.bag, bag - settings.bags);
  EXPECT_EQ(found.position, 0U);
  EXPECT_EQ(found.index, 3);
  EXPECT_EQ(found.rows, 3);
  EXPECT_NE(found.text().find("row 3 is not in [0, 3)"), std::string::npos) << found.text();
}

TEST_F(DeviceForward, RefusesWhatCannotBe) {
  EmbeddingBatch batch(runtime, {});
  const auto call = [&](const EmbeddingOptions& options, kernels::device::IndexStatus* status) {
    kernels::device::embedding_bag_forward(batch.device.tables, batch.device.lookups, IndexType::int64, batch.s.bags,
                                           batch.device.outputs, options, status, workspace, stream);
  };
  EXPECT_THROW(call({}, nullptr), Error) << "fatal without a status";
  kernels::device::IndexStatus status;
  batch.device.tables[1].row_stride = 1;
  EXPECT_THROW(call({Pooling::sum, IndexPolicy::clamp, false, 1}, &status), Error);
  batch.device.tables.pop_back();
  EXPECT_THROW(call({Pooling::sum, IndexPolicy::clamp, false, 1}, &status), Error);
}

/// The stand-in spoils memory that comes back to a pool.
TEST_F(DeviceForward, AGraphKeepsTheMemoryOfItsWorkspace) {
  const EmbeddingOptions options{Pooling::mean, IndexPolicy::clamp, false, 1};
  const auto step = [&](EmbeddingBatch& of) {
    kernels::device::embedding_bag_forward(of.device.tables, of.device.lookups, IndexType::int64, of.s.bags,
                                           of.device.outputs, options, nullptr, workspace, stream);
    kernels::device::embedding_bag_backward(of.device.tables, of.device.lookups, IndexType::int64, of.s.bags,
                                            of.indices.size(), of.device.gradients, {}, {}, options, nullptr, workspace,
                                            stream);
  };
  EmbeddingBatch batch(runtime, {});
  step(batch);
  runtime.run_all();
  runtime.begin_capture(handle);
  step(batch);
  const int graph = runtime.end_capture(handle);
  constexpr int others = 40;  // more lists of tables than a workspace keeps
  for (int k = 1; k <= others; ++k) {
    BatchSettings larger;
    larger.bags = 37 + 50 * static_cast<std::size_t>(k);
    EmbeddingBatch other(runtime, larger);
    step(other);
    runtime.run_all();
  }
  runtime.launch(graph, handle);
  runtime.run_all();
  EmbeddingWorkspace host_workspace;
  for (int k = 0; k < 2; ++k) {
    embedding_bag_forward(batch.host.tables, batch.host.lookups, IndexType::int64, batch.s.bags, batch.host.outputs,
                          options);
    embedding_bag_backward(batch.host.tables, batch.host.lookups, IndexType::int64, batch.s.bags, batch.host.gradients,
                           {}, {}, options, host_workspace);
  }
  expect_same_bits(batch.device_floats[0].values(), batch.output, "two steps");
  batch.expect_same_tables("two steps");
  runtime.destroy_graph(graph);
}

TEST_F(DeviceForward, IsCapturedOnceTheWorkspaceKnowsTheCall) {
  EmbeddingBatch batch(runtime, {});
  const EmbeddingOptions options{Pooling::sum, IndexPolicy::clamp, false, 1};
  const auto call = [&] {
    kernels::device::embedding_bag_forward(batch.device.tables, batch.device.lookups, IndexType::int64, batch.s.bags,
                                           batch.device.outputs, options, nullptr, workspace, stream);
    kernels::device::embedding_bag_backward(batch.device.tables, batch.device.lookups, IndexType::int64, batch.s.bags,
                                            batch.indices.size(), batch.device.gradients, {}, {}, options, nullptr,
                                            workspace, stream);
  };
  runtime.begin_capture(handle);
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_supported);
    EXPECT_NE(std::string(error.what()).find("capture"), std::string::npos);
  }
  runtime.destroy_graph(runtime.end_capture(handle));
  call();
  runtime.run_all();
  const std::size_t allocations = runtime.live_allocations();
  runtime.begin_capture(handle);
  call();
  const int graph = runtime.end_capture(handle);
  EXPECT_EQ(runtime.live_allocations(), allocations);
  runtime.launch(graph, handle);
  runtime.launch(graph, handle);
  runtime.run_all();
  EmbeddingWorkspace host_workspace;
  for (int step = 0; step < 3; ++step) {
    embedding_bag_forward(batch.host.tables, batch.host.lookups, IndexType::int64, batch.s.bags, batch.host.outputs,
                          options);
    embedding_bag_backward(batch.host.tables, batch.host.lookups, IndexType::int64, batch.s.bags, batch.host.gradients,
                           {}, {}, options, host_workspace);
  }
  expect_same_bits(batch.device_floats[0].values(), batch.output, "three steps");
  batch.expect_same_tables("three steps");
  runtime.destroy_graph(graph);
}

}  // namespace
