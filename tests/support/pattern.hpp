// SPDX-License-Identifier: BSD-3-Clause
// Data that depends on rank, index and iteration, and whose combination is exactly predictable in every type.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tutti/tutti.hpp>
#include <type_traits>

namespace tutti::test {

template <typename T>
struct IsPair : std::false_type {};
template <typename V, typename I>
struct IsPair<ValueIndex<V, I>> : std::true_type {};
template <typename T>
struct IsComplex : std::false_type {};
template <typename T>
struct IsComplex<std::complex<T>> : std::true_type {};
template <typename T>
inline constexpr bool is_narrow = std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t> ||
                                  std::is_same_v<T, float8_e4m3_t> || std::is_same_v<T, float8_e5m2_t>;

/// A small whole number as a T.
template <typename T>
T whole(int value) {
  if constexpr (is_narrow<T>)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

/// The contribution of one rank to a sum, product, minimum, …: 1 or 2, so that sums and products of 8 ranks are exact
/// even in 8-bit floats with two bits of mantissa, where the expected value is rounded in the same way.
inline int digit(int rank, std::size_t index, int iteration) {
  const auto mixed = static_cast<unsigned>(rank) * 2654435761U + static_cast<unsigned>(index) * 40503U +
                     static_cast<unsigned>(iteration) * 9176U;
  return 1 + static_cast<int>((mixed >> 7U) & 1U);
}

/// The contribution of one rank to an integer reduction: the digit, with the top bit set by turns, so that a signed
/// comparison of unsigned integers shows.
template <typename T>
T integer_digit(int rank, std::size_t index, int iteration) {
  const int small = digit(rank, index, iteration);
  const bool top = (static_cast<std::size_t>(rank) + index / 3 + static_cast<std::size_t>(iteration)) % 2 == 1;
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>(top ? -small : small);
  else
    return static_cast<T>(top ? std::numeric_limits<T>::max() / 2 + 1 + small : small);
}

template <typename T>
T pattern(int rank, std::size_t index, int iteration) {
  if constexpr (IsPair<T>::value) {
    using Value = decltype(T::value);
    using Index = decltype(T::index);
    return {static_cast<Value>((rank * 5 + static_cast<int>(index % 97) * 3 + iteration) % 7),
            static_cast<Index>((rank * 3 + static_cast<int>(index % 5)) % 8)};
  } else if constexpr (IsComplex<T>::value) {
    using Real = typename T::value_type;
    return {static_cast<Real>(digit(rank, index, iteration)), static_cast<Real>(digit(rank + 1, index, iteration) - 1)};
  } else if constexpr (std::is_integral_v<T>) {
    return integer_digit<T>(rank, index, iteration);
  } else {
    return whole<T>(digit(rank, index, iteration));
  }
}

/// Data for movement: distinct for every rank, block and index as far as the type goes.
template <typename T>
T movement(int rank, std::size_t block, std::size_t index, int iteration) {
  const auto mixed = static_cast<unsigned>(rank) * 31U + static_cast<unsigned>(block) * 17U +
                     static_cast<unsigned>(index % 1009) * 7U + static_cast<unsigned>(iteration) * 3U;
  return whole<T>(static_cast<int>(mixed % 101U));
}

/// One step of an integer reduction, which wraps.
template <typename T>
T join(ReduceKind op, T a, T b) {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  switch (op) {
    case ReduceKind::prod:
      return static_cast<T>(x * y);
    case ReduceKind::min:
      return a < b ? a : b;
    case ReduceKind::max:
      return a > b ? a : b;
    case ReduceKind::band:
      return static_cast<T>(x & y);
    case ReduceKind::bor:
      return static_cast<T>(x | y);
    case ReduceKind::bxor:
      return static_cast<T>(x ^ y);
    case ReduceKind::land:
      return static_cast<T>(a != 0 && b != 0);
    case ReduceKind::lor:
      return static_cast<T>(a != 0 || b != 0);
    case ReduceKind::lxor:
      return static_cast<T>((a != 0) != (b != 0));
    default:
      return static_cast<T>(x + y);
  }
}

/// The combination of ranks first … last of the pattern, computed without the library.
template <typename T>
T combined(ReduceKind op, int first, int last, std::size_t index, int iteration, int ranks) {
  if constexpr (IsPair<T>::value) {
    T best = pattern<T>(first, index, iteration);
    for (int r = first + 1; r <= last; ++r) {
      const T other = pattern<T>(r, index, iteration);
      const bool wins = op == ReduceKind::minloc ? other.value < best.value : other.value > best.value;
      if (wins || (other.value == best.value && other.index < best.index)) best = other;
    }
    return best;
  } else if constexpr (IsComplex<T>::value) {
    T total = pattern<T>(first, index, iteration);
    for (int r = first + 1; r <= last; ++r)
      total =
          op == ReduceKind::prod ? total * pattern<T>(r, index, iteration) : total + pattern<T>(r, index, iteration);
    return op == ReduceKind::avg ? total / static_cast<typename T::value_type>(ranks) : total;
  } else if constexpr (std::is_integral_v<T>) {
    T total = pattern<T>(first, index, iteration);
    for (int r = first + 1; r <= last; ++r) total = join(op, total, pattern<T>(r, index, iteration));
    if (op != ReduceKind::avg) return total;
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(total / static_cast<std::int64_t>(ranks));
    else
      return static_cast<T>(total / static_cast<std::uint64_t>(ranks));
  } else {
    int total = digit(first, index, iteration);
    for (int r = first + 1; r <= last; ++r) {
      const int x = digit(r, index, iteration);
      if (op == ReduceKind::prod)
        total *= x;
      else if (op == ReduceKind::min)
        total = total < x ? total : x;
      else if (op == ReduceKind::max)
        total = total > x ? total : x;
      else
        total += x;
    }
    if (op == ReduceKind::avg) {
      if constexpr (is_narrow<T>)
        return T(static_cast<float>(total) / static_cast<float>(ranks));
      else
        return static_cast<T>(total) / static_cast<T>(ranks);
    }
    return whole<T>(static_cast<int>(total));
  }
}

}  // namespace tutti::test
