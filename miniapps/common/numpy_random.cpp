// SPDX-License-Identifier: BSD-3-Clause
#include "numpy_random.hpp"

#include <bit>
#include <cmath>
#include <numeric>

namespace tutti::miniapps {

void NumpyRandom::seed(std::uint32_t value) {
  engine_.seed(value);
  has_gauss_ = false;
}

double NumpyRandom::random_sample() {
  const auto a = static_cast<double>(next_uint32() >> 5U);
  const auto b = static_cast<double>(next_uint32() >> 6U);
  return (a * 67108864.0 + b) / 9007199254740992.0;
}

double NumpyRandom::gauss() {
  if (has_gauss_) {
    has_gauss_ = false;
    return kept_gauss_;
  }
  double x1 = 0;
  double x2 = 0;
  double r2 = 0;
  do {
    x1 = 2.0 * random_sample() - 1.0;
    x2 = 2.0 * random_sample() - 1.0;
    r2 = x1 * x1 + x2 * x2;
  } while (r2 >= 1.0 || r2 == 0.0);
  const double f = std::sqrt(-2.0 * std::log(r2) / r2);
  kept_gauss_ = f * x1;
  has_gauss_ = true;
  return f * x2;
}

void NumpyRandom::fill_uniform(std::span<float> values, double low, double high) {
  for (float& v : values) {
    v = static_cast<float>(uniform(low, high));
  }
}

void NumpyRandom::fill_normal(std::span<float> values, double mean, double deviation) {
  for (float& v : values) {
    v = static_cast<float>(normal(mean, deviation));
  }
}

std::uint32_t NumpyRandom::below_or_equal(std::uint32_t max) {
  const auto mask = static_cast<std::uint32_t>(std::bit_ceil(std::uint64_t{max} + 1) - 1);
  std::uint32_t value = 0;
  do {
    value = next_uint32() & mask;
  } while (value > max);
  return value;
}

void NumpyRandom::fill_below(std::span<std::int32_t> values, std::uint32_t n) {
  for (std::int32_t& v : values) {
    v = n > 1 ? static_cast<std::int32_t>(below_or_equal(n - 1)) : 0;
  }
}

void NumpyRandom::skip_below(std::uint64_t count, std::uint32_t n) {
  for (std::uint64_t i = 0; n > 1 && i < count; ++i) {
    (void)below_or_equal(n - 1);
  }
}

void NumpyRandom::shuffle(std::span<std::uint32_t> values) {
  for (std::size_t i = values.size(); i-- > 1;) {
    std::swap(values[i], values[below_or_equal(static_cast<std::uint32_t>(i))]);
  }
}

std::vector<std::uint32_t> NumpyRandom::permutation(std::uint32_t n) {
  std::vector<std::uint32_t> values(n);
  std::iota(values.begin(), values.end(), 0U);
  shuffle(values);
  return values;
}

}  // namespace tutti::miniapps
