// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "mersenne_twister.hpp"

namespace tutti::miniapps {

/// numpy's legacy generator (numpy.random.RandomState, numpy.random.seed): the same seed gives the same bits. Local;
/// copying copies the state. Source: Matsumoto and Nishimura, Mersenne Twister, 1998; the drawing rules are numpy's
/// legacy-distributions.c and mtrand.pyx, frozen since numpy 1.17.
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) : engine_(seed) {}

  /// As numpy.random.seed: also drops the kept normal value.
  void seed(std::uint32_t value);
  [[nodiscard]] std::uint32_t next_uint32() { return engine_.next(); }
  /// In [0, 1), 53 bits; two outputs of the engine.
  [[nodiscard]] double random_sample();
  /// As random_sample for each value, in order.
  void fill_samples(std::span<double> values);
  /// As n calls of random_sample whose values nobody needs.
  void skip_samples(std::uint64_t n) { engine_.discard(2 * n); }
  [[nodiscard]] double uniform(double low, double high) { return low + (high - low) * random_sample(); }
  /// Polar method; the second value of a pair is kept for the next call.
  [[nodiscard]] double normal(double mean, double deviation) { return mean + deviation * gauss(); }

  /// Drawn as float64 and rounded to float32, in order.
  void fill_uniform(std::span<float> values, double low, double high);
  void fill_normal(std::span<float> values, double mean, double deviation);

  /// As numpy.random.randint(0, n, values.size()), n from 1 to 2^31: masked rejection; n = 1 draws nothing.
  void fill_below(std::span<std::int32_t> values, std::uint32_t n);
  /// As fill_below of `count` values that nobody needs.
  void skip_below(std::uint64_t count, std::uint32_t n);

  /// As numpy.random.shuffle: Fisher-Yates from the end, masked rejection.
  void shuffle(std::span<std::uint32_t> values);

 private:
  [[nodiscard]] double gauss();
  [[nodiscard]] std::uint32_t below_or_equal(std::uint32_t max);

  MersenneTwister engine_;
  bool has_gauss_ = false;
  double kept_gauss_ = 0;
};

}  // namespace tutti::miniapps
