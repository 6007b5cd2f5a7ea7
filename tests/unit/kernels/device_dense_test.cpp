// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <random>
#include <thread>
#include <tutti/error.hpp>
#include <tutti/kernels/segmented_sum.hpp>

#include "device_memory.hpp"

// Segmented sums, interaction, dense updates, norms and conversions on device memory have the host's bits.
namespace {

using namespace device_test;

class DeviceDense : public Device {
 protected:
  template <typename T>
  std::vector<T> random_values(std::size_t count, unsigned seed = 1) {
    std::mt19937 generator(seed);
    std::vector<T> values(count);
    for (auto& x : values) x = static_cast<T>(static_cast<float>(generator() % 20001) / 5000.0F - 2.0F);
    return values;
  }

  template <typename T>
  void compare_sums(std::size_t dim, std::size_t segments) {
    std::vector<std::int64_t> offsets{0};
    for (std::size_t k = 0; k < segments; ++k)
      offsets.push_back(offsets.back() + static_cast<std::int64_t>(k * 7 % 11));
    const auto values = random_values<T>(static_cast<std::size_t>(offsets.back()) * dim);
    std::vector<T> expected(segments * dim);
    const auto there = upload(values);
    const auto offsets_there = upload(offsets);
    const auto output = make<T>(expected.size());
    constexpr DatatypeKind type = datatype_of<T>().kind();
    segmented_sum(type, values.data(), dim, offsets, expected.data());
    kernels::device::segmented_sum(type, there.data(), dim, offsets_there.data(), segments, output.data(), stream);
    runtime.run_all();
    expect_same_bits(output.values(), expected, std::string(datatype_name(type)) + " " + std::to_string(dim));
  }

  template <typename T>
  void compare_update(const DenseUpdate& update, std::size_t count, std::size_t shift) {
    auto parameters = random_values<T>(count + shift, 1);
    const auto gradients = random_values<T>(count + shift, 2);
    std::vector<T> state(state_values(update) * count);
    const auto device_parameters = upload(parameters);
    const auto device_gradients = upload(gradients);
    const auto device_state = upload(state);
    for (std::uint64_t step = 1; step <= 3; ++step) {
      dense_update(update, step, std::span<T>(parameters).subspan(shift), std::span<const T>(gradients).subspan(shift),
                   std::span<T>(state));
      kernels::device::dense_update(update, step, std::span<T>(device_parameters.data() + shift, count),
                                    std::span<const T>(device_gradients.data() + shift, count),
                                    std::span<T>(device_state.data(), state.size()), stream);
    }
    runtime.run_all();
    const std::string what = "optimizer " + std::to_string(static_cast<int>(update.optimizer));
    expect_same_bits(device_parameters.values(), parameters, what);
    expect_same_bits(device_state.values(), state, what + " state");
  }

  void compare_interaction(std::size_t features, std::size_t dim, bool itself) {
    constexpr std::size_t samples = 5;
    const DotInteraction shape{features, dim, itself, 1};
    const auto vectors = random_values<float>(samples * features * dim, 3);
    const auto gradient = random_values<float>(samples * shape.width(), 4);
    std::vector<float> output(samples * shape.width());
    std::vector<float> input_gradient(vectors.size());
    const auto device_vectors = upload(vectors);
    const auto device_gradient = upload(gradient);
    const auto device_output = make<float>(output.size());
    const auto device_input_gradient = make<float>(input_gradient.size());
    std::vector<Pooled<const float>> in;
    std::vector<Pooled<const float>> device_in;
    std::vector<Pooled<float>> out;
    std::vector<Pooled<float>> device_out;
    for (std::size_t f = 0; f < features; ++f) {
      in.push_back({vectors.data() + f * dim, features * dim});
      device_in.push_back({device_vectors.data() + f * dim, features * dim});
      out.push_back({input_gradient.data() + f * dim, features * dim});
      device_out.push_back({device_input_gradient.data() + f * dim, features * dim});
    }
    dot_interaction_forward(shape, samples, in, output.data(), shape.width());
    dot_interaction_backward(shape, samples, in, gradient.data(), shape.width(), out);
    kernels::device::dot_interaction_forward(shape, samples, device_in, device_output.data(), shape.width(), workspace,
                                             stream);
    kernels::device::dot_interaction_backward(shape, samples, device_in, device_gradient.data(), shape.width(),
                                              device_out, workspace, stream);
    runtime.run_all();
    const auto got = device_output.values();
    const auto got_gradient = device_input_gradient.values();
    // Products may be fused with sums or not, so the last bits may differ.
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], output[i], 2e-4) << features << " x " << dim;
    for (std::size_t i = 0; i < got_gradient.size(); ++i) {
      ASSERT_NEAR(got_gradient[i], input_gradient[i], 2e-4) << features << " x " << dim;
    }
  }

  kernels::device::Workspace workspace;
};

/// As streams with a thread each do: Kokkos' Threads take loops of one thread only.
TEST_F(DeviceDense, HasTheHostsNumbersInAnotherThread) {
  compare_sums<float>(16, 40);
  std::thread([&] { compare_sums<float>(16, 40); }).join();
  std::thread([&] { compare_interaction(9, 16, true); }).join();
}

TEST_F(DeviceDense, SegmentedSums) {
  for (const std::size_t dim : {1U, 5U, 16U, 128U}) {
    for (const std::size_t segments : {0U, 1U, 40U}) {
      compare_sums<float>(dim, segments);
      compare_sums<double>(dim, segments);
      compare_sums<float16_t>(dim, segments);
      compare_sums<bfloat16_t>(dim, segments);
    }
  }
}

TEST_F(DeviceDense, Interaction) {
  for (const std::size_t features : {1U, 2U, 5U, 9U, 27U}) {
    for (const std::size_t dim : {1U, 6U, 16U, 128U}) {
      for (const bool itself : {false, true}) {
        compare_interaction(features, dim, itself);
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_THROW(kernels::device::dot_interaction_forward({3, 4}, 1, {}, nullptr, 10, workspace, stream), Error);
  const std::vector<Pooled<const float>> many(400);
  EXPECT_THROW(kernels::device::dot_interaction_forward({400, 128}, 1, many, nullptr, 1, workspace, stream), Error);
}

TEST_F(DeviceDense, Updates) {
  DenseUpdate momentum;
  momentum.momentum = 0.9;
  DenseUpdate nesterov = momentum;
  nesterov.nesterov = true;
  nesterov.weight_decay = 0.01;
  DenseUpdate adagrad;
  adagrad.optimizer = DenseOptimizer::adagrad;
  DenseUpdate adam;
  adam.optimizer = DenseOptimizer::adam;
  for (const DenseUpdate& update : {DenseUpdate{}, momentum, nesterov, adagrad, adam}) {
    for (const std::size_t count : {0U, 1U, 7U, 64U, 5003U}) {
      compare_update<float>(update, count, 0);
      compare_update<double>(update, count, 0);
      compare_update<float>(update, count, 1);
    }
  }
  float x = 0;
  EXPECT_THROW(kernels::device::dense_update({}, 0, std::span(&x, 1), std::span<const float>(&x, 1), {}, stream),
               Error);
}

TEST_F(DeviceDense, Norms) {
  const auto compare = [&]<typename T>(std::size_t count, T*) {
    const auto values = random_values<T>(count);
    const auto there = upload(values);
    const auto result = make<double>(1);
    constexpr DatatypeKind type = datatype_of<T>().kind();
    for (const Norm kind : {Norm::l1, Norm::l2, Norm::linf}) {
      kernels::device::norm_part(kind, type, there.data(), count, result.data(), workspace, stream);
      runtime.run_all();
      expect_same_bits(result.values(), {norm_part(kind, type, values.data(), count)},
                       std::string(datatype_name(type)) + " norm of " + std::to_string(count));
    }
  };
  for (const std::size_t count : {0U, 1U, 17U, 8192U, 50001U}) {
    compare(count, static_cast<float*>(nullptr));
    compare(count, static_cast<double*>(nullptr));
    compare(count, static_cast<float16_t*>(nullptr));
    compare(count, static_cast<bfloat16_t*>(nullptr));
  }
  const auto nan = upload(std::vector<float>{1, std::nanf(""), 3});
  const auto result = make<double>(1);
  kernels::device::norm_part(Norm::linf, DatatypeKind::float32, nan.data(), 3, result.data(), workspace, stream);
  runtime.run_all();
  EXPECT_TRUE(std::isnan(result.values()[0]));
}

TEST_F(DeviceDense, Conversions) {
  const auto compare = [&]<typename From, typename To>(std::size_t count, From*, To*) {
    const auto values = random_values<From>(count + 1);
    std::vector<To> expected(count);
    const auto there = upload(values);
    for (const std::size_t shift : {0U, 1U}) {
      for (std::size_t i = 0; i < count; ++i) expected[i] = static_cast<To>(static_cast<float>(values[i + shift]));
      const auto output = make<To>(count);
      kernels::device::convert(datatype_of<From>().kind(), there.data() + shift, datatype_of<To>().kind(),
                               output.data(), count, stream);
      runtime.run_all();
      expect_same_bits(output.values(), expected, "conversion of " + std::to_string(count));
    }
  };
  for (const std::size_t count : {0U, 1U, 8U, 1003U}) {
    compare(count, static_cast<float*>(nullptr), static_cast<bfloat16_t*>(nullptr));
    compare(count, static_cast<float*>(nullptr), static_cast<float16_t*>(nullptr));
    compare(count, static_cast<bfloat16_t*>(nullptr), static_cast<float*>(nullptr));
    compare(count, static_cast<float16_t*>(nullptr), static_cast<float*>(nullptr));
    compare(count, static_cast<float*>(nullptr), static_cast<float*>(nullptr));
    compare(count, static_cast<bfloat16_t*>(nullptr), static_cast<bfloat16_t*>(nullptr));
  }
  EXPECT_THROW(kernels::device::convert(DatatypeKind::float16, nullptr, DatatypeKind::bfloat16, nullptr, 1, stream),
               Error);
}

}  // namespace
