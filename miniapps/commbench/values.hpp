// SPDX-License-Identifier: BSD-3-Clause
// Contributions to reductions, and their exact results, by type: the arithmetic of pattern.hpp.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tutti/datatype.hpp>
#include <tutti/reduce_op.hpp>
#include <type_traits>

#include "common/counter_random.hpp"

namespace tutti::commbench {

[[nodiscard]] constexpr std::uint64_t hash(int rank, std::uint64_t index, std::uint64_t iteration) {
  return miniapps::mix_counter(miniapps::mix_counter(iteration * 0x10001U + static_cast<std::uint64_t>(rank)) ^ index);
}

/// One element of one iteration.
struct Spot {
  std::size_t index;
  std::uint64_t iteration;
  int ranks;
};

template <typename T>
inline constexpr bool is_narrow = std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t> ||
                                  std::is_same_v<T, float8_e4m3_t> || std::is_same_v<T, float8_e5m2_t>;
template <typename T>
inline constexpr bool is_signed_number = is_narrow<T> || std::is_signed_v<T>;

/// All whole numbers up to this one are exact in T.
template <typename T>
constexpr std::int64_t exact_limit() {
  if constexpr (std::is_same_v<T, float8_e4m3_t>) return 16;
  if constexpr (std::is_same_v<T, float8_e5m2_t>) return 8;
  if constexpr (std::is_same_v<T, float16_t>) return 2048;
  if constexpr (std::is_same_v<T, bfloat16_t>) return 256;
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::int64_t>(std::min<std::uint64_t>(std::numeric_limits<T>::max(), 1U << 20U));
  return 1 << 20;
}

/// 2 to this power is exact in T.
template <typename T>
constexpr std::int64_t power_limit() {
  if constexpr (std::is_same_v<T, float8_e4m3_t>) return 8;
  if constexpr (std::is_same_v<T, float8_e5m2_t> || std::is_same_v<T, float16_t>) return 15;
  if constexpr (std::is_integral_v<T>) return std::min(std::numeric_limits<T>::digits - 1, 60);
  return 60;
}

/// A whole number as a T; integers wrap.
template <typename T>
T number(std::int64_t value) {
  if constexpr (is_narrow<T>)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

/// At most `limit` of the ranks contribute more than the neutral element to an element.
inline std::int64_t stride_for(int ranks, std::int64_t limit) { return (ranks + limit - 1) / limit; }
inline bool contributes(int rank, const Spot& spot, std::int64_t limit) {
  return (static_cast<std::int64_t>(spot.index) + rank) % stride_for(spot.ranks, limit) == 0;
}

inline std::int64_t premul_scalar(int rank) { return rank % 2 == 0 ? 2 : 1; }

/// A whole number from -limit (where T has a sign) to limit.
template <typename T>
std::int64_t between(std::uint64_t random, std::int64_t limit) {
  const auto span = static_cast<std::uint64_t>(is_signed_number<T> ? 2 * limit + 1 : limit + 1);
  return static_cast<std::int64_t>(random % span) - (is_signed_number<T> ? limit : 0);
}

/// Whole numbers that stand for the contribution of a rank to an element; bits for the bitwise operations.
template <typename T>
std::int64_t contribution(ReduceKind op, int rank, const Spot& spot) {
  const std::uint64_t random = hash(rank, spot.index, spot.iteration);
  constexpr std::int64_t few = 4;
  switch (op) {
    case ReduceKind::min:
    case ReduceKind::max:
      return between<T>(random, std::min<std::int64_t>(exact_limit<T>(), 100));
    case ReduceKind::prod:
      return contributes(rank, spot, power_limit<T>()) ? 1 + static_cast<std::int64_t>(random & 1U) : 1;
    case ReduceKind::land:
      return contributes(rank, spot, few) ? static_cast<std::int64_t>(random & 1U) : 1;
    case ReduceKind::lor:
      return contributes(rank, spot, few) ? static_cast<std::int64_t>(random & 1U) : 0;
    case ReduceKind::lxor:
      return static_cast<std::int64_t>(random & 1U);
    case ReduceKind::band:
      return contributes(rank, spot, few) ? static_cast<std::int64_t>(random) : -1;
    case ReduceKind::bor:
      return contributes(rank, spot, few) ? static_cast<std::int64_t>(random) : 0;
    case ReduceKind::bxor:
      return static_cast<std::int64_t>(random);
    default: {
      const std::int64_t limit = exact_limit<T>() / (op == ReduceKind::premul_sum ? 2 : 1);
      if (!contributes(rank, spot, limit)) return 0;
      const std::int64_t stride = stride_for(spot.ranks, limit);
      return between<T>(random, limit / ((spot.ranks + stride - 1) / stride));
    }
  }
}

inline std::int64_t fold(ReduceKind op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case ReduceKind::min:
      return std::min(a, b);
    case ReduceKind::max:
      return std::max(a, b);
    case ReduceKind::prod:
      return a * b;
    case ReduceKind::land:
      return a != 0 && b != 0 ? 1 : 0;
    case ReduceKind::lor:
      return a != 0 || b != 0 ? 1 : 0;
    case ReduceKind::lxor:
      return (a != 0) != (b != 0) ? 1 : 0;
    case ReduceKind::band:
      return a & b;
    case ReduceKind::bor:
      return a | b;
    case ReduceKind::bxor:
      return a ^ b;
    default:
      return a + b;
  }
}

template <typename T>
T average(std::int64_t total, int ranks) {
  if constexpr (is_narrow<T>)
    return T(static_cast<float>(total) / static_cast<float>(ranks));
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(total) / static_cast<T>(ranks);
  else
    return static_cast<T>(total / ranks);
}

/// How a type is made: one contribution, and the combination of ranks first to last.
template <typename T>
struct Values {
  static T one(ReduceKind op, int rank, const Spot& spot) { return number<T>(contribution<T>(op, rank, spot)); }
  static std::int64_t scaled(ReduceKind op, int rank, const Spot& spot) {
    return contribution<T>(op, rank, spot) * (op == ReduceKind::premul_sum ? premul_scalar(rank) : 1);
  }
  static std::int64_t total(ReduceKind op, int first, int last, const Spot& spot) {
    std::int64_t result = scaled(op, first, spot);
    for (int r = first + 1; r <= last; ++r) result = fold(op, result, scaled(op, r, spot));
    return result;
  }
  static T all(ReduceKind op, int first, int last, const Spot& spot) {
    const std::int64_t result = total(op, first, last, spot);
    return op == ReduceKind::avg ? average<T>(result, spot.ranks) : number<T>(result);
  }
};

/// Sums: two independent numbers. Products: powers of two, of which one rank's is imaginary, so that no zero gets a
/// sign that depends on the order.
template <typename R>
struct Values<std::complex<R>> {
  using T = std::complex<R>;
  static Spot imaginary(const Spot& spot) { return {spot.index, ~spot.iteration, spot.ranks}; }
  static bool turns(int first, int last, const Spot& spot) {
    const auto rank = static_cast<int>(hash(-1, spot.index, spot.iteration) % static_cast<std::uint64_t>(spot.ranks));
    return rank >= first && rank <= last;
  }
  static T all(ReduceKind op, int first, int last, const Spot& spot) {
    const R real = Values<R>::all(op, first, last, spot);
    if (op == ReduceKind::prod) return turns(first, last, spot) ? T(0, real) : T(real, 0);
    return {real, Values<R>::all(op, first, last, imaginary(spot))};
  }
  static T one(ReduceKind op, int rank, const Spot& spot) {
    const R real = Values<R>::one(op, rank, spot);
    if (op == ReduceKind::prod) return turns(rank, rank, spot) ? T(0, real) : T(real, 0);
    return {real, Values<R>::one(op, rank, imaginary(spot))};
  }
};

template <typename V, typename I>
struct Values<ValueIndex<V, I>> {
  using T = ValueIndex<V, I>;
  static T one(ReduceKind /*op*/, int rank, const Spot& spot) {
    const std::uint64_t random = hash(rank, spot.index, spot.iteration);
    return {number<V>(static_cast<std::int64_t>(random % 7) - 3),
            number<I>(static_cast<std::int64_t>(random >> 8U) % 1000)};
  }
  static T all(ReduceKind op, int first, int last, const Spot& spot) {
    T best = one(op, first, spot);
    for (int r = first + 1; r <= last; ++r) {
      const T other = one(op, r, spot);
      const bool wins = op == ReduceKind::minloc ? other.value < best.value : other.value > best.value;
      if (wins || (other.value == best.value && other.index < best.index)) best = other;
    }
    return best;
  }
};

/// Calls function.operator()<T>() with the C++ type of a datatype; false where there is none that is reduced.
template <typename Function>
bool with_type(DatatypeKind kind, const Function& function) {
  switch (kind) {
#define TUTTI_COMMBENCH_TYPE(name, T)  \
  case DatatypeKind::name:             \
    function.template operator()<T>(); \
    return true;
    TUTTI_COMMBENCH_TYPE(int8, std::int8_t)
    TUTTI_COMMBENCH_TYPE(int16, std::int16_t)
    TUTTI_COMMBENCH_TYPE(int32, std::int32_t)
    TUTTI_COMMBENCH_TYPE(int64, std::int64_t)
    TUTTI_COMMBENCH_TYPE(uint8, std::uint8_t)
    TUTTI_COMMBENCH_TYPE(uint16, std::uint16_t)
    TUTTI_COMMBENCH_TYPE(uint32, std::uint32_t)
    TUTTI_COMMBENCH_TYPE(uint64, std::uint64_t)
    TUTTI_COMMBENCH_TYPE(float8_e4m3, float8_e4m3_t)
    TUTTI_COMMBENCH_TYPE(float8_e5m2, float8_e5m2_t)
    TUTTI_COMMBENCH_TYPE(float16, float16_t)
    TUTTI_COMMBENCH_TYPE(bfloat16, bfloat16_t)
    TUTTI_COMMBENCH_TYPE(float32, float)
    TUTTI_COMMBENCH_TYPE(float64, double)
    TUTTI_COMMBENCH_TYPE(complex64, std::complex<float>)
    TUTTI_COMMBENCH_TYPE(complex128, std::complex<double>)
    TUTTI_COMMBENCH_TYPE(float32_int32, Float32Int32)
    TUTTI_COMMBENCH_TYPE(float64_int32, Float64Int32)
    TUTTI_COMMBENCH_TYPE(int32_int32, Int32Int32)
    TUTTI_COMMBENCH_TYPE(int64_int32, Int64Int32)
    TUTTI_COMMBENCH_TYPE(int64_int64, Int64Int64)
    TUTTI_COMMBENCH_TYPE(float64_int64, Float64Int64)
    TUTTI_COMMBENCH_TYPE(float32_float32, Float32Float32)
    TUTTI_COMMBENCH_TYPE(float64_float64, Float64Float64)
    TUTTI_COMMBENCH_TYPE(logical8, std::int8_t)
    TUTTI_COMMBENCH_TYPE(logical16, std::int16_t)
    TUTTI_COMMBENCH_TYPE(logical32, std::int32_t)
    TUTTI_COMMBENCH_TYPE(logical64, std::int64_t)
#undef TUTTI_COMMBENCH_TYPE
    default:
      return false;
  }
}

}  // namespace tutti::commbench
