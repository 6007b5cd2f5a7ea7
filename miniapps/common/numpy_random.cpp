// SPDX-License-Identifier: BSD-3-Clause
#include "numpy_random.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace tutti::miniapps {

namespace {

constexpr std::size_t chunk = 256;  // samples, on the stack

/// Signed, because processors convert signed numbers to double quickly.
double sample_of(std::uint32_t first, std::uint32_t second) {
  const auto a = static_cast<double>(static_cast<std::int32_t>(first >> 5U));
  const auto b = static_cast<double>(static_cast<std::int32_t>(second >> 6U));
  return (a * 67108864.0 + b) * 0x1p-53;
}

}  // namespace

void NumpyRandom::seed(std::uint32_t value) {
  engine_.seed(value);
  has_gauss_ = false;
}

double NumpyRandom::random_sample() {
  const std::uint32_t first = next_uint32();
  return sample_of(first, next_uint32());
}

void NumpyRandom::fill_samples(std::span<double> values) {
  while (!values.empty()) {
    const auto words = engine_.take(2 * values.size());
    const std::size_t whole = words.size() / 2;
    for (std::size_t i = 0; i < whole; ++i) {
      values[i] = sample_of(words[2 * i], words[2 * i + 1]);
    }
    values = values.subspan(whole);
    if (words.size() % 2 == 1) {  // the other half begins the next block
      const std::uint32_t first = words.back();
      values.front() = sample_of(first, next_uint32());
      values = values.subspan(1);
    }
  }
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
  std::array<double, chunk> samples;
  while (!values.empty()) {
    const std::size_t count = std::min(chunk, values.size());
    fill_samples(std::span(samples).first(count));
    std::transform(samples.begin(), samples.begin() + count, values.begin(),
                   [low, high](double sample) { return static_cast<float>(low + (high - low) * sample); });
    values = values.subspan(count);
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

}  // namespace tutti::miniapps
