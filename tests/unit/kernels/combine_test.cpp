// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <random>
#include <vector>

// Every datatype and operation, 1 to 17 inputs, against one plain expression an operation, in place and out of place.
namespace {

using namespace tutti;

template <typename T>
inline constexpr bool narrow = !std::is_integral_v<T> && sizeof(T) <= 2;

template <typename T>
using Wide = std::conditional_t<narrow<T>, float, T>;

template <typename T>
T wrap(std::uint64_t x) {
  return static_cast<T>(x);
}

template <typename T>
Wide<T> apply(ReduceKind op, Wide<T> a, Wide<T> b) {
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    switch (op) {
      case ReduceKind::sum:
      case ReduceKind::avg:
        return wrap<T>(x + y);
      case ReduceKind::prod:
        return wrap<T>(x * y);
      case ReduceKind::land:
        return static_cast<T>(a != 0 && b != 0);
      case ReduceKind::lor:
        return static_cast<T>(a != 0 || b != 0);
      case ReduceKind::lxor:
        return static_cast<T>((a != 0) != (b != 0));
      case ReduceKind::band:
        return wrap<T>(x & y);
      case ReduceKind::bor:
        return wrap<T>(x | y);
      case ReduceKind::bxor:
        return wrap<T>(x ^ y);
      default:
        return op == ReduceKind::min ? std::min(a, b) : std::max(a, b);
    }
  } else {
    if (op == ReduceKind::prod) return a * b;
    if (op == ReduceKind::min) return std::min(a, b);
    if (op == ReduceKind::max) return std::max(a, b);
    return a + b;
  }
}

template <typename T>
std::vector<T> random_values(std::size_t count, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::vector<T> values(count);
  for (auto& value : values) {
    if constexpr (std::is_integral_v<T>) {
      value = generator() % 4 == 0 ? T{0} : static_cast<T>(generator());
    } else {
      value = static_cast<T>((static_cast<float>(generator() % 128) - 63.5F) / 32.0F);
    }
  }
  return values;
}

template <typename T>
std::vector<T> expected_of(ReduceKind op, const std::vector<std::vector<T>>& inputs) {
  std::vector<T> expected(inputs[0].size());
  const bool logical = op == ReduceKind::land || op == ReduceKind::lor || op == ReduceKind::lxor;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    auto acc = static_cast<Wide<T>>(inputs[0][i]);
    if constexpr (std::is_integral_v<T>) {
      if (logical) acc = static_cast<T>(acc != 0);
    }
    for (std::size_t k = 1; k < inputs.size(); ++k) acc = apply<T>(op, acc, static_cast<Wide<T>>(inputs[k][i]));
    expected[i] = static_cast<T>(acc);
  }
  return expected;
}

template <typename T>
void expect_same(const std::vector<T>& got, const std::vector<T>& expected, const std::string& what) {
  ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(T)), 0) << what;
}

template <typename T>
void check(DatatypeKind type, ReduceKind op) {
  for (const std::size_t n : {1U, 2U, 3U, 4U, 5U, 17U}) {
    for (const std::size_t count : {1U, 7U, 64U, 2500U}) {
      std::vector<std::vector<T>> inputs;
      for (unsigned k = 0; k < n; ++k) inputs.push_back(random_values<T>(count, k + 1));
      const auto expected = expected_of(op, inputs);
      std::vector<const void*> pointers;
      for (const auto& input : inputs) pointers.push_back(input.data());
      const std::string what = std::string(datatype_name(type)) + " " + reduce_op_name(op) + " of " + std::to_string(n);
      std::vector<T> output(count);
      kernels::combine(type, op, pointers, output.data(), count);
      expect_same(output, expected, what);
      for (const std::size_t target : {std::size_t{0}, n / 2, n - 1}) {
        auto copies = inputs;
        for (std::size_t k = 0; k < n; ++k) pointers[k] = copies[k].data();
        kernels::combine(type, op, pointers, copies[target].data(), count);
        expect_same(copies[target], expected, what + " into input " + std::to_string(target));
      }
    }
  }
}

template <typename T>
void check_all(DatatypeKind type) {
  int checked = 0;
  for (int op = 1; op <= static_cast<int>(ReduceKind::bxor); ++op) {
    const auto kind = static_cast<ReduceKind>(op);
    if (!is_defined(kind, type)) continue;
    check<T>(type, kind);
    ++checked;
  }
  EXPECT_GE(checked, 3);
}

TEST(Combine, Int8) { check_all<std::int8_t>(DatatypeKind::int8); }
TEST(Combine, Int16) { check_all<std::int16_t>(DatatypeKind::int16); }
TEST(Combine, Int32) { check_all<std::int32_t>(DatatypeKind::int32); }
TEST(Combine, Int64) { check_all<std::int64_t>(DatatypeKind::int64); }
TEST(Combine, Uint8) { check_all<std::uint8_t>(DatatypeKind::uint8); }
TEST(Combine, Uint16) { check_all<std::uint16_t>(DatatypeKind::uint16); }
TEST(Combine, Uint32) { check_all<std::uint32_t>(DatatypeKind::uint32); }
TEST(Combine, Uint64) { check_all<std::uint64_t>(DatatypeKind::uint64); }
TEST(Combine, Float8E4m3) { check_all<float8_e4m3_t>(DatatypeKind::float8_e4m3); }
TEST(Combine, Float8E5m2) { check_all<float8_e5m2_t>(DatatypeKind::float8_e5m2); }
TEST(Combine, Float16) { check_all<float16_t>(DatatypeKind::float16); }
TEST(Combine, Bfloat16) { check_all<bfloat16_t>(DatatypeKind::bfloat16); }
TEST(Combine, Float32) { check_all<float>(DatatypeKind::float32); }
TEST(Combine, Float64) { check_all<double>(DatatypeKind::float64); }
TEST(Combine, Logical8) { check_all<std::int8_t>(DatatypeKind::logical8); }
TEST(Combine, Logical16) { check_all<std::int16_t>(DatatypeKind::logical16); }
TEST(Combine, Logical32) { check_all<std::int32_t>(DatatypeKind::logical32); }
TEST(Combine, Logical64) { check_all<std::int64_t>(DatatypeKind::logical64); }

template <typename F>
void check_complex(DatatypeKind type) {
  using C = std::complex<F>;
  for (const std::size_t n : {1U, 2U, 3U, 5U, 17U}) {
    constexpr std::size_t count = 1500;
    std::vector<std::vector<C>> inputs(n, std::vector<C>(count));
    std::mt19937 generator(3);
    for (auto& input : inputs) {
      for (auto& x : input) x = C(static_cast<F>(generator() % 5) - 2, static_cast<F>(generator() % 5) - 2) / F{2};
    }
    std::vector<const void*> pointers;
    for (const auto& input : inputs) pointers.push_back(input.data());
    for (const ReduceKind op : {ReduceKind::sum, ReduceKind::prod, ReduceKind::avg, ReduceKind::premul_sum}) {
      std::vector<C> output(count);
      kernels::combine(type, op, pointers, output.data(), count);
      for (std::size_t i = 0; i < count; ++i) {
        C expected = inputs[0][i];
        for (std::size_t k = 1; k < n; ++k) {
          expected = op == ReduceKind::prod ? expected * inputs[k][i] : expected + inputs[k][i];
        }
        ASSERT_EQ(output[i], expected);
      }
    }
  }
}

TEST(Combine, Complex64) { check_complex<float>(DatatypeKind::complex64); }
TEST(Combine, Complex128) { check_complex<double>(DatatypeKind::complex128); }

}  // namespace
