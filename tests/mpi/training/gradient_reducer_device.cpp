// SPDX-License-Identifier: BSD-3-Clause
// The gradient reducer on device memory, on the stand-ins of CUDA and NCCL: the same results as on host memory, the
// order of the caller's stream, and communication beside backward.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <tutti/tutti.hpp>
#include <vector>

#include "mpi/nccl/machine.hpp"

namespace tutti {
namespace {

using test::DeviceMemory;
using test::machine;
using test::user_stream;

const std::vector<std::size_t> sizes = {1000, 0, 1, 70'000, 333, 20'000};

float value_of(int rank, std::size_t parameter, std::size_t index, int step) {
  return static_cast<float>(rank + 1) * static_cast<float>(parameter + 1) + static_cast<float>(index % 64) +
         static_cast<float>(16 * step);
}

std::vector<std::byte> gradient_bytes(int rank, std::size_t parameter, int step) {
  std::vector<float> values(sizes[parameter]);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of(rank, parameter, i, step);
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

ReducerOptions on_device(ReduceKind op, std::size_t communicators) {
  ReducerOptions options;
  options.memory = MemoryKind::device;
  options.stream = user_stream();
  options.op = op;
  options.bucket_bytes = 100'000;
  options.first_bucket_bytes = 2'000;
  options.communicators = communicators;
  return options;
}

/// A model whose gradients are in "device" memory: of the caller's, or in buckets.
class Model {
 public:
  Model(const Communicator& comm, const ReducerOptions& options, bool in_buckets)
      : comm_(&comm), reducer_(std::make_unique<GradientReducer>(comm, options)) {
    for (std::size_t p = 0; p < sizes.size(); ++p) {
      homes_.push_back(in_buckets ? nullptr : std::make_unique<DeviceMemory>(sizes[p] * sizeof(float)));
      Parameter parameter;
      parameter.name = "p" + std::to_string(p);
      parameter.shape = {sizes[p]};
      parameter.gradient = in_buckets || sizes[p] == 0 ? nullptr : homes_[p]->data();
      (void)reducer_->add(parameter);
    }
    reducer_->prepare();
  }

  /// Kernels of backward are launched on the stream, the last parameter first; each is marked at once.
  void backward(int step) {
    for (std::size_t p = sizes.size(); p-- > 0;) {
      const Buffer gradient = reducer_->gradient(p);
      machine().runtime.run_host(machine().stream,
                                 [to = gradient.data, bytes = gradient_bytes(comm_->rank(), p, step)] {
                                   if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
                                 });
      reducer_->ready(p);
    }
  }

  /// As an update on the stream would see them.
  [[nodiscard]] std::vector<std::vector<float>> gradients_on_stream() {
    std::vector<std::vector<float>> seen(sizes.size());
    for (std::size_t p = 0; p < sizes.size(); ++p) {
      seen[p].resize(sizes[p]);
      machine().runtime.run_host(machine().stream,
                                 [from = reducer_->gradient(p).data, to = seen[p].data(), n = sizes[p]] {
                                   if (n > 0) std::memcpy(to, from, n * sizeof(float));
                                 });
    }
    machine().drain();
    return seen;
  }

  GradientReducer& reducer() { return *reducer_; }

 private:
  const Communicator* comm_;
  std::vector<std::unique_ptr<DeviceMemory>> homes_;
  std::unique_ptr<GradientReducer> reducer_;
};

void expect_reduced(const std::vector<std::vector<float>>& seen, const Communicator& comm, ReduceKind op, int step) {
  for (std::size_t p = 0; p < sizes.size(); ++p)
    for (std::size_t i = 0; i < sizes[p]; ++i) {
      float expected = 0;
      for (int r = 0; r < comm.size(); ++r) expected += value_of(r, p, i, step);
      if (op == ReduceKind::avg) expected /= static_cast<float>(comm.size());
      ASSERT_FLOAT_EQ(seen[p][i], expected) << "parameter " << p << ", element " << i << ", step " << step;
    }
}

TEST(DeviceReducer, ReducesInTheOrderOfTheStream) {
  for (const Communicator& comm : test::device_communicators())
    for (const bool in_buckets : {false, true})
      for (const ReduceKind op : {ReduceKind::sum, ReduceKind::avg})
        for (const std::size_t communicators : {std::size_t{1}, std::size_t{2}}) {
          Model model(comm, on_device(op, communicators), in_buckets);
          for (int step = 0; step < 3; ++step) {
            model.backward(step);
            model.reducer().wait();
            expect_reduced(model.gradients_on_stream(), comm, op, step);
          }
          EXPECT_TRUE(model.reducer().statistics().rebuilt || model.reducer().layout() == 1);
          EXPECT_GE(model.reducer().buckets().size(), 3U);
          machine().drain();
        }
}

TEST(DeviceReducer, UnusedParametersAreZeroInBuckets) {
  const Communicator& comm = test::device_communicators().front();
  ReducerOptions options = on_device(ReduceKind::sum, 1);
  options.find_unused = true;
  Model model(comm, options, true);
  for (std::size_t p = sizes.size(); p-- > 1;) {
    const auto bytes = gradient_bytes(comm.rank(), p, 0);
    const standin::HostAccess access;
    if (!bytes.empty()) std::memcpy(model.reducer().gradient(p).data, bytes.data(), bytes.size());
    model.reducer().ready(p);
  }
  model.reducer().wait();
  EXPECT_FALSE(model.reducer().used(0));
  EXPECT_TRUE(model.reducer().used(3));
  EXPECT_THAT(model.gradients_on_stream()[0], testing::Each(0.0F));
  machine().drain();
}

TEST(DeviceReducer, RefusesWhatWorksOnTheHostOnly) {
  const Communicator& comm = test::device_communicators().front();
  const auto code = [&](ReducerOptions options) {
    try {
      GradientReducer reducer(comm, std::move(options));
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::success;
  };
  ReducerOptions options = on_device(ReduceKind::sum, 1);
  EXPECT_EQ(code(options), ErrorCode::success);
  options.check = true;
  EXPECT_EQ(code(options), ErrorCode::invalid_argument);
  options = on_device(ReduceKind::sum, 1);
  options.hook = bf16_hook();
  EXPECT_EQ(code(options), ErrorCode::invalid_argument);
  options = on_device(ReduceKind::sum, 1);
  options.stream = {};
  EXPECT_EQ(code(options), ErrorCode::invalid_argument);
}

/// One rounding, or NCCL's own sum where the hook asks for it.
TEST(DeviceReducer, SumsSixteenBitsAsTheHookSays) {
  const Communicator& comm = test::device_communicators().front();
  const auto uses_its_own = [&](Accumulation accumulation) {
    ReducerOptions options;
    options.memory = MemoryKind::device;
    options.stream = test::user_stream();
    options.hook = allreduce_hook({.accumulation = accumulation});
    GradientReducer reducer(comm, options);
    Parameter parameter;
    parameter.name = "weights";
    parameter.shape = {300};
    parameter.type = DatatypeKind::bfloat16;
    (void)reducer.add(parameter);
    reducer.prepare();
    test::machine().nccl.clear_record();
    reducer.ready(0);
    reducer.wait();
    test::machine().drain();
    return std::ranges::any_of(test::machine().nccl.record(), [](const std::string& call) {
      return call.starts_with("all_reduce(") && call.find("bfloat16") != std::string::npos;
    });
  };
  EXPECT_FALSE(uses_its_own(Accumulation::full));
  EXPECT_TRUE(uses_its_own(Accumulation::backend));
}

}  // namespace
}  // namespace tutti
