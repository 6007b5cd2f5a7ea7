// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tutti/kernels/embedding_backward.hpp>

#include "kernels/row_value.hpp"

/// The arithmetic of embedding rows, written once: V is one float32 value of a device's lane, or a vector of them on
/// the host. Only references are passed: passing vectors by value would make the calling convention depend on the
/// processor.
namespace tutti::kernels {

/// The gradients of a row's occurrences are added in their order, a part of so many at a time, and then the sums of the
/// parts in theirs. So a device can add many parts at once, with the bits of the host.
inline constexpr std::uint32_t row_part = 128;

/// Operations that differ between values and vectors. Specialised for the host's vectors in lanes.hpp.
template <typename V>
struct Arithmetic;

template <>
struct Arithmetic<float> {
  using Uint = std::uint32_t;
  using Int = std::int32_t;
  static constexpr std::size_t width = 1;
  TUTTI_FUNCTION static void bits_of(Uint& to, const float& from) { to = __builtin_bit_cast(Uint, from); }
  TUTTI_FUNCTION static void value_of(float& to, const Uint& from) { to = __builtin_bit_cast(float, from); }
  TUTTI_FUNCTION static void truncate(Int& to, const float& from) { to = static_cast<Int>(from); }
  TUTTI_FUNCTION static void widen(float& to, const Int& from) { to = static_cast<float>(from); }
  TUTTI_FUNCTION static void unsign(Uint& to, const Int& from) { to = static_cast<Uint>(from); }
  TUTTI_FUNCTION static void sign(Int& to, const Uint& from) { to = static_cast<Int>(from); }
  TUTTI_FUNCTION static void square_root(float& x) { x = std::sqrt(x); }
  TUTTI_FUNCTION static void count(Uint& to) { to = 0; }
};

TUTTI_FUNCTION float scaled_value(float x, const RowScale& scale) { return x * scale.scale + scale.bias; }

/// The constants of an update, computed once per call.
struct UpdateRule {
  explicit UpdateRule(const RowUpdate& update)
      : rate(update.learning_rate),
        epsilon(denominator_epsilon(update)),
        keep1(static_cast<float>(update.beta1)),
        keep2(static_cast<float>(update.beta2)),
        take1(static_cast<float>(1 - update.beta1)),
        take2(static_cast<float>(1 - update.beta2)),
        correction1(static_cast<float>(1 / (1 - std::pow(update.beta1, static_cast<double>(update.step))))),
        correction2(static_cast<float>(1 / (1 - std::pow(update.beta2, static_cast<double>(update.step))))) {}

  /// The epsilon to add to a root that is corrected for bias.
  static float denominator_epsilon(const RowUpdate& update) {
    if (update.optimizer != RowOptimizer::adam || !update.epsilon_hat) return update.epsilon;
    return static_cast<float>(update.epsilon / std::sqrt(1 - std::pow(update.beta2, static_cast<double>(update.step))));
  }

  float rate;
  float epsilon;
  float keep1, keep2, take1, take2;
  float correction1, correction2;
};

/// Changes values of a row by their gradients. `first` is Adagrad's sum of squares or Adam's first moment, `second` is
/// Adam's second moment, and `denominator` is row-wise Adagrad's for the whole row.
template <RowOptimizer Optimizer, typename V>
[[gnu::always_inline]] TUTTI_FUNCTION void change_values(const UpdateRule& rule, V& row, const V& gradient, V& first,
                                                         V& second, float denominator) {
  if constexpr (Optimizer == RowOptimizer::sgd) {
    row -= rule.rate * gradient;
  } else if constexpr (Optimizer == RowOptimizer::adagrad) {
    first += gradient * gradient;
    V root = first;
    Arithmetic<V>::square_root(root);
    row -= rule.rate * gradient / (root + rule.epsilon);
  } else if constexpr (Optimizer == RowOptimizer::row_wise_adagrad) {
    row -= rule.rate * gradient / denominator;
  } else {
    first = rule.keep1 * first + rule.take1 * gradient;
    second = rule.keep2 * second + rule.take2 * gradient * gradient;
    V root = second * rule.correction2;
    Arithmetic<V>::square_root(root);
    row -= rule.rate * (first * rule.correction1) / (root + rule.epsilon);
  }
}

/// A number in [0, 1), in steps of 2^-24.
template <typename V>
[[gnu::always_inline]] TUTTI_FUNCTION void unit_of(V& to, const typename Arithmetic<V>::Uint& noise) {
  typename Arithmetic<V>::Int steps;
  Arithmetic<V>::sign(steps, noise >> 8);
  Arithmetic<V>::widen(to, steps);
  to *= 0x1p-24F;
}

/// Rounds to the bits of a bfloat16, up or down by the random bits; without noise to nearest, ties to even. A NaN stays
/// a NaN.
template <typename V, typename U = typename Arithmetic<V>::Uint>
[[gnu::always_inline]] TUTTI_FUNCTION void round_bfloat16(U& to, const V& from, const U* noise) {
  U word;
  Arithmetic<V>::bits_of(word, from);
  const U below = noise != nullptr ? *noise & 0xffffU : ((word >> 16) & 1U) + 0x7fffU;
  to = (word & 0x7fffffffU) > 0x7f800000U ? (word >> 16) | 0x0040U : (word + below) >> 16;
}

/// Rounds to the bits of a float16, up or down by the random bits. Normal numbers get noise below the last kept bit;
/// below 2^-14, where values are multiples of 2^-24, the cut part is compared with the noise.
template <typename V, typename U = typename Arithmetic<V>::Uint>
[[gnu::always_inline]] TUTTI_FUNCTION void round_float16(U& to, const V& from, const U& noise) {
  using A = Arithmetic<V>;
  U word;
  A::bits_of(word, from);
  const U sign = (word >> 16) & 0x8000U;
  const U magnitude = word & 0x7fffffffU;
  const U smallest_normal = U{} + (113U << 23);
  const U infinity = U{} + 0x7c00U;
  U normal = (magnitude + (noise & 0x1fffU) - (112U << 23)) >> 13;
  normal = normal < infinity ? normal : infinity;
  const U small = magnitude < smallest_normal ? magnitude : smallest_normal;
  V steps;
  A::value_of(steps, small);
  steps *= 0x1p24F;
  typename A::Int whole;
  A::truncate(whole, steps);
  V floor;
  A::widen(floor, whole);
  V threshold;
  unit_of(threshold, noise);
  whole = threshold < steps - floor ? whole + 1 : whole;
  U subnormal;
  A::unsign(subnormal, whole);
  const U finite = magnitude < smallest_normal ? subnormal : normal;
  to = sign | (magnitude > 0x7f800000U ? ((magnitude >> 13) & 0x3ffU) | 0x7e00U : finite);
}

/// Rounds x to a step in [0, 255]. A NaN gives 0.
template <typename V, typename U = typename Arithmetic<V>::Uint>
[[gnu::always_inline]] TUTTI_FUNCTION void round_step(U& to, const V& from, const U* noise) {
  using A = Arithmetic<V>;
  const V zero = {};
  const V most = zero + 255.0F;
  V inside = from > zero ? from : zero;
  inside = inside < most ? inside : most;
  typename A::Int whole;
  A::truncate(whole, inside);
  V floor;
  A::widen(floor, whole);
  const V cut = inside - floor;
  if (noise != nullptr) {
    V threshold;
    unit_of(threshold, *noise);
    whole = threshold < cut ? whole + 1 : whole;
  } else {
    const auto up = (cut > 0.5F) | ((cut == 0.5F) & ((whole & 1) == 1));
    whole = up ? whole + 1 : whole;
  }
  A::unsign(to, whole);
}

/// Turns column numbers into random bits: two rounds of multiplication and shift, with half of the key before each.
template <typename U>
[[gnu::always_inline]] TUTTI_FUNCTION void mix_columns(U& x, std::uint32_t low, std::uint32_t high) {
  x = x * 0x9e3779b1U + low;
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = ((x ^ (x >> 15)) + high) * 0x846ca68bU;
  x = x ^ (x >> 16);
}

/// The scale that maps the least value of a row to 0 and the largest to 255. If a value is not finite (special), the
/// bias is a NaN, and so are all values.
TUTTI_FUNCTION RowScale scale_between(float least, float largest, bool special) {
  if (special) return {1.0F, __builtin_bit_cast(float, 0x7fc00000U)};
  const float scale = (largest - least) / 255.0F;
  return {scale >= 1.17549435e-38F ? scale : 1.0F, least};
}

}  // namespace tutti::kernels
