// SPDX-License-Identifier: BSD-3-Clause
// The nccl backend on a GPU: what it is used for, graphs, aborts, timeouts, errors. Skipped where NCCL cannot be used;
// the reason is the library's own report.
#include <chrono>
#include <cstdio>
#include <thread>
#include <tutti/tutti.hpp>

#include "backends/nccl/state.hpp"
#include "backends/prepare_device.hpp"
#include "call/context.hpp"
#include "gpu/arrays.hpp"
#include "gpu/trial.hpp"

namespace tutti::test::gpu {
namespace {

using namespace std::chrono_literals;
namespace nccl = detail::nccl;

class Nccl : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    if (state() == nullptr) GTEST_SKIP() << "skipped: NCCL is not used here:\n" << device_world().device_report();
  }
  static nccl::State* state() { return nccl::state_of(*device_world().state()); }
};

/// The text of the error that a call gives.
template <typename F>
std::string error_of(const F& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

float rank_sum() { return static_cast<float>(device_world().size() * (device_world().size() + 1)) / 2; }

/// A communicator still gives right results.
void expect_works(const Communicator& comm) {
  const DeviceStream stream;
  const DeviceArray<float> x(filled(1000, 1.0F));
  Options options;
  options.stream = stream.stream();
  allreduce(comm, x.data(), x.size(), sum, options);
  stream.wait();
  EXPECT_EQ(x.read(), filled(1000, static_cast<float>(comm.size())));
}

Communicator prepared(const CommunicatorOptions& options = {}) {
  auto comm = Communicator::duplicate(MPI_COMM_WORLD, options);
  comm.prepare_device();
  return comm;
}

TEST_F(Nccl, IsReportedWithItsVersion) {
  EXPECT_TRUE(
      contains(device_world().device_report(), nccl::version_text(device_world().state()->device->nccl_version)));
  if (device_world().rank() == 0) std::printf("%s\n", device_world().device_report().c_str());
}

// A call with a stream returns before the device is done.
TEST_F(Nccl, ACallOnAStreamReturnsAtOnce) {
  const DeviceStream stream;
  const std::size_t count = is_standin() ? 10'000 : std::size_t{64} << 20U;
  const DeviceArray<float> x(filled(count, 1.0F));
  Options options;
  options.stream = stream.stream();
  allreduce(device_world(), x.data(), count, sum, options);  // sets up what a first call sets up
  stream.wait();
  constexpr int calls = 8;
  for (int i = 0; i < calls; ++i) allreduce(device_world(), x.data(), count, max, options);
  if (device_world().size() == 1 || is_standin()) {
    stream.wait();
    return;  // one rank has nothing to do, and the stand-in no speed
  }
  EXPECT_FALSE(runtime().is_idle(stream.handle()));
  stream.wait();
}

TEST_F(Nccl, AGraphIsLaunchedAgainAndAgain) {
  const DeviceStream stream;
  const DeviceArray<float> x(filled(4097, 1.0F));
  const DeviceArray<float> y(filled(4097, 0.0F));
  Options options;
  options.stream = stream.stream();
  const auto work = [&] {
    allreduce(device_world(), ConstBuffer(x.data(), x.size()), Buffer(y.data(), y.size()), sum, options);
    runtime().copy(x.data(), y.data(), x.size() * sizeof(float), stream.handle());
  };
  work();  // prepares the plan
  stream.wait();
  x.write(filled(4097, 1.0F));
  runtime().start_graph(stream.handle());
  work();
  const auto graph = runtime().finish_graph(stream.handle());
  EXPECT_EQ(x.read(), filled(4097, 1.0F)) << "nothing is done while the graph is made";
  const auto ranks = static_cast<float>(device_world().size());
  for (const float expected : {ranks, ranks * ranks}) {
    runtime().launch_graph(graph, stream.handle());
    stream.wait();
    EXPECT_EQ(x.read(), filled(4097, expected));
  }
  runtime().release_graph(graph);
  expect_works(device_world());
}

TEST_F(Nccl, WhatCannotBeCapturedSaysSo) {
  const DeviceStream stream;
  const DeviceArray<float> x(filled(16, 1.0F));
  Options options;
  options.stream = stream.stream();
  const auto fresh = Communicator::duplicate(MPI_COMM_WORLD);
  runtime().start_graph(stream.handle());
  const std::string unprepared = error_of([&] { allreduce(fresh, x.data(), x.size(), sum, options); });
  options.algorithm = "staged";
  const std::string staged = error_of([&] { allreduce(device_world(), x.data(), x.size(), sum, options); });
  runtime().release_graph(runtime().finish_graph(stream.handle()));
  EXPECT_TRUE(contains(unprepared, "capture")) << unprepared;
  EXPECT_TRUE(contains(staged, "capture")) << staged;
}

TEST_F(Nccl, SplitsHaveCommunicatorsOfTheirOwn) {
  const auto half = device_world().split(device_world().rank() % 2, 0);
  half.prepare_device();
  const DeviceArray<float> x(filled(1000, 1.0F));
  allreduce(half, x.data(), x.size(), sum);
  EXPECT_EQ(x.read(), filled(1000, static_cast<float>(half.size())));
  expect_works(device_world());
}

TEST_F(Nccl, SeveralCommunicatorsInFlight) {
  std::vector<Communicator> comms;
  for (int i = 0; i < 3; ++i) comms.push_back(prepared());
  std::vector<DeviceArray<float>> arrays;
  for (int i = 0; i < 12; ++i) arrays.emplace_back(filled(50'000, static_cast<float>(device_world().rank() + 1)));
  std::vector<Request> requests;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    requests.push_back(iallreduce(comms[i % 3], arrays[i].data(), arrays[i].size(), sum));
  wait_all(requests);
  for (const auto& array : arrays) EXPECT_EQ(array.read(), filled(50'000, rank_sum()));
}

TEST_F(Nccl, AnAbortedCommunicatorLeavesTheOthersUsable) {
  auto comm = prepared();
  expect_works(comm);
  comm.abort("a test");
  const DeviceArray<float> x(filled(16, 1.0F));
  try {
    allreduce(comm, x.data(), x.size(), sum);
    ADD_FAILURE() << "a call on an aborted communicator returned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::aborted) << error.what();
  }
  barrier(device_world());
  expect_works(device_world());
}

// A peer that does not come: the call fails by its timeout, its communicator is given up, others go on.
TEST_F(Nccl, ACallWithoutItsPeerTimesOut) {
  if (device_world().size() < 2) GTEST_SKIP() << "skipped: needs two ranks";
  auto comm = prepared();
  expect_works(comm);
  if (comm.rank() == 0) {
    const DeviceArray<float> x(filled(100'000, 1.0F));
    Options options;
    options.timeout = 2s;
    try {
      allreduce(comm, x.data(), x.size(), sum, options);
      ADD_FAILURE() << "a call without its peer returned";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::timeout) << error.what();
    }
  }
  barrier(device_world());
  comm.abort("a peer did not come");
  expect_works(device_world());
}

TEST_F(Nccl, AnErrorBringsNcclsText) {
  nccl::Comm& comm = state()->comm();
  const std::string text = error_of([&] { comm.check(nccl::Result::invalid_argument, "ncclTest", 1s); });
  EXPECT_TRUE(contains(text, "ncclTest")) << text;
  EXPECT_TRUE(contains(text, comm.table().get_error_string(nccl::Result::invalid_argument))) << text;
  comm.check_async();
  expect_works(device_world());
}

// What the library relies on where a peer never comes: an initialisation that does not block, and can be aborted.
TEST_F(Nccl, AnInitialisationWithoutItsPeerCanBeAborted) {
  if (is_standin()) GTEST_SKIP() << "skipped: of NCCL itself";
  const nccl::Table& table = state()->comm().table();
  nccl::UniqueId id{};
  ASSERT_EQ(table.get_unique_id(&id), nccl::Result::success);
  nccl::Config config;
  config.blocking = 0;
  nccl::CommHandle handle = nullptr;
  const auto begin = std::chrono::steady_clock::now();
  nccl::Result result = table.comm_init_rank_config(&handle, 2, id, 0, &config);
  while (result == nccl::Result::in_progress && std::chrono::steady_clock::now() - begin < 1s) {
    std::this_thread::sleep_for(10ms);
    ASSERT_EQ(table.comm_get_async_error(handle, &result), nccl::Result::success);
  }
  EXPECT_EQ(result, nccl::Result::in_progress);
  const nccl::Result aborted = table.comm_abort(handle);
  EXPECT_TRUE(aborted == nccl::Result::success || aborted == nccl::Result::in_progress);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  barrier(device_world());
  expect_works(device_world());
}

}  // namespace
}  // namespace tutti::test::gpu
