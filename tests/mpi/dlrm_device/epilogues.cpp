// SPDX-License-Identifier: BSD-3-Clause
// Bias and ReLU in the products of cublasLt: equal results in fewer launches, and no NaN that gets lost.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "common/device/mlp.hpp"
#include "support.hpp"

namespace tutti::test {
namespace {

using namespace miniapps;
using EpiloguesOfDlrm = DlrmDevice;
using standin::Cublas;
using standin::CublasOptions;

constexpr std::size_t samples = 70;
/// The last begins at an odd place, so that its weights and bias are aligned to their own size only.
constexpr std::array layers{DenseLayer{4, 8, 0, Activation::relu}, DenseLayer{8, 3, 40, Activation::relu},
                            DenseLayer{3, 2, 67, Activation::identity}};
/// Two of one shape, at equally aligned places.
constexpr std::array twins{DenseLayer{4, 8, 0, Activation::relu}, DenseLayer{8, 8, 64, Activation::relu},
                           DenseLayer{8, 8, 192, Activation::relu}};

/// A stack whose products are exact, in either number format.
class Stack {
 public:
  explicit Stack(bool is_bfloat16, std::span<const DenseLayer> of = layers)
      : parameters_(written<float>(of.back().offset + of.back().parameters(),
                                   [](std::size_t i) { return static_cast<float>(i % 5) - 2.0F; })),
        gradients_(parameters_.size()),
        products_(machine().stream, device::Float32Products::exact),
        stack_(device::make_stack({{of, parameters_.data(), gradients_.data()}, samples}, is_bfloat16, products_,
                                  machine().stream)),
        width_(of.back().out) {}

  std::vector<float> forward(const device::Array<float>& x, std::size_t n = samples) {
    const float* y = stack_->forward(x.data(), n);
    machine().drain();
    const standin::HostAccess access;
    return {y, y + n * width_};
  }

 private:
  device::Array<float> parameters_;
  device::Array<float> gradients_;
  device::Cublas products_;
  std::unique_ptr<MlpEngine<float>> stack_;
  std::size_t width_;
};

device::Array<float> inputs() {
  return written<float>(samples * 4, [](std::size_t i) { return static_cast<float>(i % 7) - 3.0F; });
}

std::vector<float> forward_with(const CublasOptions& options, bool is_bfloat16,
                                std::span<const DenseLayer> of = layers) {
  const Cublas standin(machine().runtime, options);
  return Stack(is_bfloat16, of).forward(inputs());
}

TEST_F(EpiloguesOfDlrm, ResultsAreThoseOfSeparateKernels) {
  for (const bool is_bfloat16 : {false, true}) {
    const auto expected = forward_with({.has_lt = false}, is_bfloat16);
    EXPECT_EQ(forward_with({}, is_bfloat16), expected);
    EXPECT_EQ(forward_with({.describes_lt = false}, is_bfloat16), expected);
    EXPECT_EQ(forward_with({.finds_lt = false}, is_bfloat16), expected);
    EXPECT_EQ(forward_with({.relu_keeps_nan = false}, is_bfloat16), expected);
  }
}

TEST_F(EpiloguesOfDlrm, LayersOfOneShapeHaveTheirOwnBiases) {
  for (const bool is_bfloat16 : {false, true}) {
    EXPECT_EQ(forward_with({}, is_bfloat16, twins), forward_with({.has_lt = false}, is_bfloat16, twins));
  }
}

struct Launches {
  std::size_t products;
  std::size_t kernels;
  std::size_t choices;
  bool operator==(const Launches&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Launches& launches) {
  return out << launches.products << " products, " << launches.kernels << " kernels, " << launches.choices
             << " choices";
}

/// Of the second forward pass with a batch size.
Launches launches_with(const CublasOptions& options, bool is_bfloat16) {
  const Cublas standin(machine().runtime, options);
  Stack stack(is_bfloat16);
  const auto x = inputs();
  (void)stack.forward(x);
  const Launches before{Cublas::products(), machine().runtime.kernels(), Cublas::choices()};
  (void)stack.forward(x);
  return {Cublas::products() - before.products, machine().runtime.kernels() - before.kernels,
          Cublas::choices() - before.choices};
}

TEST_F(EpiloguesOfDlrm, ALayerIsOneLaunch) {
  EXPECT_EQ(launches_with({}, false), (Launches{3, 0, 0}));
  EXPECT_EQ(launches_with({.has_lt = false}, false), (Launches{3, 3, 0}));
  EXPECT_EQ(launches_with({.describes_lt = false}, false), (Launches{3, 3, 0}));
  EXPECT_EQ(launches_with({.finds_lt = false}, false), (Launches{3, 3, 0}));
  // The parameters and the input are converted, and the first layer's weights into rows of a multiple of 16 bytes.
  EXPECT_EQ(launches_with({}, true), (Launches{3, 3, 0}));
  EXPECT_EQ(launches_with({.has_lt = false}, true), (Launches{3, 6, 0}));
}

TEST_F(EpiloguesOfDlrm, WithoutAReluAProductOfCublasLtLosesNoNan) {
  EXPECT_EQ(launches_with({.relu_keeps_nan = false}, false), (Launches{3, 2, 0}));
}

TEST_F(EpiloguesOfDlrm, AnAlgorithmIsChosenOnceForEachShape) {
  const Cublas standin(machine().runtime);
  Stack stack(false);
  const auto x = inputs();
  for (const std::size_t n : {samples, std::size_t{5}, samples, std::size_t{5}}) (void)stack.forward(x, n);
  EXPECT_EQ(Cublas::choices(), 2 * layers.size());
}

/// Element 9 belongs to the sample 2.
void expect_nan_arrives(const CublasOptions& options, bool is_bfloat16) {
  const Cublas standin(machine().runtime, options);
  Stack stack(is_bfloat16);
  (void)stack.forward(inputs());
  const auto x = written<float>(samples * 4,
                                [](std::size_t i) { return i == 9 ? std::numeric_limits<float>::quiet_NaN() : 1.0F; });
  const auto y = stack.forward(x);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 2 == 2) << i;
}

TEST_F(EpiloguesOfDlrm, ANanPassesReluWhateverThatOfCublasLtDoes) {
  for (const bool is_bfloat16 : {false, true}) {
    expect_nan_arrives({}, is_bfloat16);
    expect_nan_arrives({.relu_keeps_nan = false}, is_bfloat16);
    expect_nan_arrives({.has_lt = false}, is_bfloat16);
  }
}

TEST_F(EpiloguesOfDlrm, TheModelTrainsAlikeWithAndWithoutThem) {
  const std::string flags = small_model + std::string(" --device");
  const auto expected = train(comm(), flags, {.has_lt = false});
  expect_close(train(comm(), flags), expected, 1e-6, "cublasLt");
  expect_close(train(comm(), flags + " --graph", {.relu_keeps_nan = false}), expected, 1e-6, "a graph, no ReLU");
  const auto rounded = train(comm(), flags + " --compute-type=bf16", {.has_lt = false});
  expect_close(train(comm(), flags + " --compute-type=bf16 --graph"), rounded, 0.01, "bf16");
}

TEST_F(EpiloguesOfDlrm, TrainingUsesThem) {
  (void)train(comm(), small_model + std::string(" --device --graph"));
  EXPECT_GT(Cublas::products_lt(), 0U);
  (void)train(comm(), small_model + std::string(" --device"), {.finds_lt = false});
  EXPECT_EQ(Cublas::products_lt(), 0U);
}

}  // namespace
}  // namespace tutti::test
