// SPDX-License-Identifier: BSD-3-Clause
// Dense layers on the stand-ins: sums over samples, and the products of a step.
#include <array>

#include "common/device/dense_kernels.hpp"
#include "common/device/mlp.hpp"
#include "support.hpp"

namespace tutti::test {
namespace {

using namespace miniapps;
using DenseLayersOfDlrm = DlrmDevice;

/// Small integers, whose sums are exact in any order.
template <typename T>
void expect_sums(std::size_t n, std::size_t width) {
  const auto value = [width](std::size_t i) {
    return static_cast<float>(i / width * 7 % 13) - 3.0F * static_cast<float>(i % width % 3);
  };
  const auto values = written<T>(n * width, value);
  const device::Array<float> partials(device::column_sum_parts * width);
  const device::Array<float> sums(width);
  device::sum_columns(values.data(), partials.data(), sums.data(), n, width, machine().stream);
  std::vector<float> expected(width, 0.0F);
  for (std::size_t i = 0; i < n * width; ++i) expected[i % width] += value(i);
  EXPECT_EQ(read(sums), expected) << n << " x " << width;
}

TEST_F(DenseLayersOfDlrm, SumsOfColumnsAreExact) {
  const standin::Cublas cublas(machine().runtime);
  for (const std::size_t n : {0U, 1U, 63U, 64U, 65U, 128U, 8191U, 8192U, 8193U, 20'001U}) {
    for (const std::size_t width : {1U, 3U, 16U}) {
      expect_sums<float>(n, width);
      expect_sums<bfloat16_t>(n, width);
    }
  }
}

/// A layer has one product forward and two backward; the first layer's input needs no gradient.
void expect_three_products_a_layer(bool operands_are_bfloat16) {
  const standin::Cublas standin(machine().runtime);
  constexpr std::size_t samples = 300;
  constexpr std::array layers{DenseLayer{4, 8, 0, Activation::relu}, DenseLayer{8, 2, 40, Activation::identity}};
  const auto parameters = written<float>(58, [](std::size_t i) { return static_cast<float>(i % 5) - 1.0F; });
  const device::Array<float> gradients(58);
  const auto x = written<float>(samples * 4, [](std::size_t i) { return static_cast<float>(i % 3); });
  const auto slope = written<float>(samples * 2, [](std::size_t i) { return i % 2 == 0 ? 1.0F : 2.0F; });
  device::Cublas products(machine().stream, device::Float32Products::exact);
  const auto stack = device::make_stack({{layers, parameters.data(), gradients.data()}, samples}, operands_are_bfloat16,
                                        products, machine().stream);
  (void)stack->forward(x.data(), samples);
  const std::size_t before = standin::Cublas::products();
  (void)stack->forward(x.data(), samples);
  stack->backward(x.data(), slope.data(), nullptr, {});
  const auto found = read(gradients);
  EXPECT_EQ(standin::Cublas::products() - before, 5U);
  EXPECT_EQ(found[56], 300.0F);
  EXPECT_EQ(found[57], 600.0F);
}

TEST_F(DenseLayersOfDlrm, BiasesNeedNoProducts) {
  expect_three_products_a_layer(false);
  expect_three_products_a_layer(true);
}

}  // namespace
}  // namespace tutti::test
