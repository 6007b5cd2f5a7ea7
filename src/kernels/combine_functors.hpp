// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <tutti/datatype.hpp>
#include <type_traits>

/// The bodies of all combinations, for host and device. A functor has three steps: load an element into an accumulator,
/// join two accumulators, finish one into an element.
namespace tutti::kernels {

template <typename T>
inline constexpr bool is_small_float = std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t> ||
                                       std::is_same_v<T, float8_e4m3_t> || std::is_same_v<T, float8_e5m2_t>;

/// The type that accumulates T: float32 for narrow floats.
template <typename T>
using Accumulator = std::conditional_t<is_small_float<T>, float, T>;

/// The unsigned type in which integer arithmetic wraps without undefined behaviour and without promotion to int.
template <typename T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

template <typename T>
struct SumFunctor {
  using Value = T;
  using Acc = Accumulator<T>;
  TUTTI_FUNCTION Acc load(const T& x) const { return static_cast<Acc>(x); }
  TUTTI_FUNCTION Acc join(Acc a, Acc b) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    } else {
      return a + b;
    }
  }
  TUTTI_FUNCTION T finish(Acc a) const { return static_cast<T>(a); }
};

template <typename T>
struct ProdFunctor {
  using Value = T;
  using Acc = Accumulator<T>;
  TUTTI_FUNCTION Acc load(const T& x) const { return static_cast<Acc>(x); }
  TUTTI_FUNCTION Acc join(Acc a, Acc b) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    } else {
      return a * b;
    }
  }
  TUTTI_FUNCTION T finish(Acc a) const { return static_cast<T>(a); }
};

/// A sum that is divided at the end.
template <typename T>
struct AverageFunctor : SumFunctor<T> {
  using Acc = Accumulator<T>;
  std::uint64_t divisor = 1;
  TUTTI_FUNCTION T finish(Acc a) const {
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) {
      return static_cast<T>(static_cast<std::int64_t>(static_cast<double>(a) / static_cast<double>(divisor)));
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      const std::uint64_t magnitude = a < 0 ? 0 - static_cast<std::uint64_t>(a) : static_cast<std::uint64_t>(a);
      const std::uint64_t quotient = magnitude / divisor;
      return static_cast<T>(a < 0 ? 0 - quotient : quotient);
    } else {
      return static_cast<T>(a / static_cast<Acc>(divisor));
    }
  }
};

/// x * factor; used with one input.
template <typename T>
struct ScaleFunctor {
  using Value = T;
  using Acc = Accumulator<T>;
  Acc factor{};
  TUTTI_FUNCTION Acc load(const T& x) const { return static_cast<Acc>(x) * factor; }
  TUTTI_FUNCTION Acc join(Acc a, Acc b) const { return a + b; }
  TUTTI_FUNCTION T finish(Acc a) const { return static_cast<T>(a); }
};

/// Maps floats to integers in the same order (-0 below +0). NaN is mapped to where it wins: lowest for min, highest for
/// max.
template <typename F, bool Max>
struct OrderKey {
  using Key = std::conditional_t<sizeof(F) == 4, std::int32_t, std::int64_t>;
  static constexpr Key magnitude_mask = sizeof(F) == 4 ? static_cast<Key>(0x7fffffff) : static_cast<Key>(~(1ULL << 63));
  static constexpr Key quiet_nan =
      sizeof(F) == 4 ? static_cast<Key>(0x7fc00000) : static_cast<Key>(0x7ff8000000000000ULL);
  static constexpr Key nan_key = Max ? quiet_nan : -quiet_nan;
  static constexpr Key minus_zero = -1;

  TUTTI_FUNCTION static Key flip(Key bits) {
    return bits ^ static_cast<Key>((bits >> (8 * sizeof(Key) - 1)) & magnitude_mask);
  }
  TUTTI_FUNCTION static Key encode(F x) { return x != x ? nan_key : flip(__builtin_bit_cast(Key, x)); }
  TUTTI_FUNCTION static F decode(Key key) { return __builtin_bit_cast(F, key == nan_key ? quiet_nan : flip(key)); }
};

template <typename T, bool Max, bool Integer = std::is_integral_v<T>>
struct ExtremumFunctor {
  using Value = T;
  using Order = OrderKey<Accumulator<T>, Max>;
  using Acc = typename Order::Key;
  TUTTI_FUNCTION Acc load(const T& x) const { return Order::encode(static_cast<Accumulator<T>>(x)); }
  TUTTI_FUNCTION Acc join(Acc a, Acc b) const { return (Max ? a > b : a < b) ? a : b; }
  TUTTI_FUNCTION T finish(Acc a) const { return static_cast<T>(Order::decode(a)); }
};

template <typename T, bool Max>
struct ExtremumFunctor<T, Max, true> {
  using Value = T;
  using Acc = T;
  TUTTI_FUNCTION T load(T x) const { return x; }
  TUTTI_FUNCTION T join(T a, T b) const { return (Max ? a > b : a < b) ? a : b; }
  TUTTI_FUNCTION T finish(T a) const { return a; }
};

enum class BitOperation { conjunction, disjunction, exclusion };

template <BitOperation Op, typename T>
TUTTI_FUNCTION T join_bits(T a, T b) {
  return static_cast<T>(Op == BitOperation::conjunction ? a & b : (Op == BitOperation::disjunction ? a | b : a ^ b));
}

template <typename T, BitOperation Op>
struct BitFunctor {
  using Value = T;
  using Acc = T;
  TUTTI_FUNCTION T load(T x) const { return x; }
  TUTTI_FUNCTION T join(T a, T b) const { return join_bits<Op>(a, b); }
  TUTTI_FUNCTION T finish(T a) const { return a; }
};

/// Zero is false, anything else true; the result is 0 or 1.
template <typename T, BitOperation Op>
struct LogicalFunctor {
  using Value = T;
  using Acc = T;
  TUTTI_FUNCTION T load(T x) const { return static_cast<T>(x != 0 ? 1 : 0); }
  TUTTI_FUNCTION T join(T a, T b) const { return join_bits<Op>(a, b); }
  TUTTI_FUNCTION T finish(T a) const { return a; }
};

/// Has the layout of std::complex; usable on a device.
template <typename F>
struct ComplexValue {
  F real;
  F imaginary;
};

template <typename F>
struct ComplexProdFunctor {
  using Value = ComplexValue<F>;
  using Acc = ComplexValue<F>;
  TUTTI_FUNCTION Acc load(const Acc& x) const { return x; }
  TUTTI_FUNCTION Acc join(Acc a, Acc b) const {
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
  }
  TUTTI_FUNCTION Acc finish(Acc a) const { return a; }
};

}  // namespace tutti::kernels
