// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include "kernels/combine_pair_functors.hpp"
#include "kernels/convert.hpp"

#if defined(__clang__)
#define TUTTI_INDEPENDENT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#pragma clang diagnostic ignored "-Wpass-failed"
#elif defined(__GNUC__)
#define TUTTI_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#else
#define TUTTI_INDEPENDENT_LOOP
#endif

/// Plain host loops over the functors. The output equals an input or overlaps none, so the iterations are independent.
namespace tutti::kernels {

using Inputs = std::span<const void* const>;

/// Elements per piece of the blocked loops, so that their accumulators stay in the first-level cache.
inline constexpr std::size_t combine_block = 1024;

template <std::size_t N, typename Functor>
void combine_fixed(const Functor& f, Inputs inputs, typename Functor::Value* out, std::size_t count) {
  using Value = typename Functor::Value;
  std::array<const Value*, N> in{};
  for (std::size_t k = 0; k < N; ++k) in[k] = static_cast<const Value*>(inputs[k]);
  TUTTI_INDEPENDENT_LOOP
  for (std::size_t i = 0; i < count; ++i) {
    auto acc = f.load(in[0][i]);
    if constexpr (N > 1) acc = f.join(acc, f.load(in[1][i]));
    if constexpr (N > 2) acc = f.join(acc, f.load(in[2][i]));
    if constexpr (N > 3) acc = f.join(acc, f.load(in[3][i]));
    store(f, out + i, acc);
  }
}

template <typename Functor, typename Value, typename Acc>
void load_block(const Functor& f, const Value* __restrict in, Acc* __restrict acc, std::size_t n) {
  TUTTI_INDEPENDENT_LOOP
  for (std::size_t i = 0; i < n; ++i) acc[i] = f.load(in[i]);
}

template <typename Functor, typename Value, typename Acc>
void join_block(const Functor& f, const Value* __restrict in, Acc* __restrict acc, std::size_t n) {
  TUTTI_INDEPENDENT_LOOP
  for (std::size_t i = 0; i < n; ++i) acc[i] = f.join(acc[i], f.load(in[i]));
}

template <typename Functor, typename Value, typename Acc>
void store_block(const Functor& f, const Acc* __restrict acc, Value* __restrict out, std::size_t n) {
  TUTTI_INDEPENDENT_LOOP
  for (std::size_t i = 0; i < n; ++i) store(f, out + i, acc[i]);
}

template <typename Functor>
void combine_blocked(const Functor& f, Inputs inputs, typename Functor::Value* out, std::size_t count) {
  using Value = typename Functor::Value;
  alignas(64) typename Functor::Acc acc[combine_block];
  for (std::size_t begin = 0; begin < count; begin += combine_block) {
    const std::size_t n = std::min(combine_block, count - begin);
    load_block(f, static_cast<const Value*>(inputs[0]) + begin, acc, n);
    for (const void* next : inputs.subspan(1)) join_block(f, static_cast<const Value*>(next) + begin, acc, n);
    store_block(f, acc, out + begin, n);
  }
}

/// Whether a finished element can be loaded again unchanged, so that pieces can be combined in several steps.
template <typename Functor>
inline constexpr bool is_closed =
    std::is_same_v<typename Functor::Acc, typename Functor::Value> && !requires(Functor f) {
  f.divisor;
};

/// Like combine_blocked, but three further inputs per step: fewer passes over the cached piece, and simpler loops.
template <typename Functor>
void combine_stepwise(const Functor& f, Inputs inputs, typename Functor::Value* out, std::size_t count) {
  using Value = typename Functor::Value;
  alignas(64) Value piece[combine_block];
  for (std::size_t begin = 0; begin < count; begin += combine_block) {
    const std::size_t n = std::min(combine_block, count - begin);
    const auto at = [&](std::size_t k) -> const void* { return static_cast<const Value*>(inputs[k]) + begin; };
    const void* first = at(0);
    std::size_t k = 1;
    for (; k + 3 < inputs.size(); k += 3) {
      const void* step[] = {first, at(k), at(k + 1), at(k + 2)};
      combine_fixed<4>(f, step, piece, n);
      first = piece;
    }
    const void* step[] = {first, at(k), at(std::min(k + 1, inputs.size() - 1)), at(inputs.size() - 1)};
    if (inputs.size() - k == 3) combine_fixed<4>(f, step, out + begin, n);
    if (inputs.size() - k == 2) combine_fixed<3>(f, step, out + begin, n);
    if (inputs.size() - k == 1) combine_fixed<2>(f, step, out + begin, n);
  }
}

template <typename Functor>
void combine_on_host(const Functor& f, Inputs inputs, void* output, std::size_t count) {
  auto* out = static_cast<typename Functor::Value*>(output);
  switch (inputs.size()) {
    case 1:
      return combine_fixed<1>(f, inputs, out, count);
    case 2:
      return combine_fixed<2>(f, inputs, out, count);
    case 3:
      return combine_fixed<3>(f, inputs, out, count);
    case 4:
      return combine_fixed<4>(f, inputs, out, count);
    default:
      if constexpr (is_closed<Functor>) return combine_stepwise(f, inputs, out, count);
      return combine_blocked(f, inputs, out, count);
  }
}

/// Combines floats of 16 and 8 bits by a float32 functor between conversions of whole pieces. Gives the same bits as
/// the functor of T.
template <typename T, typename Functor>
void combine_narrow_on_host(const Functor& f, Inputs inputs, void* output, std::size_t count) {
  auto* out = static_cast<T*>(output);
  alignas(64) typename Functor::Acc acc[combine_block];
  alignas(64) float wide[combine_block];
  for (std::size_t begin = 0; begin < count; begin += combine_block) {
    const std::size_t n = std::min(combine_block, count - begin);
    widen(static_cast<const T*>(inputs[0]) + begin, wide, n);
    load_block(f, wide, acc, n);
    for (const void* next : inputs.subspan(1)) {
      widen(static_cast<const T*>(next) + begin, wide, n);
      join_block(f, wide, acc, n);
    }
    store_block(f, acc, wide, n);
    narrow(wide, out + begin, n);
  }
}

}  // namespace tutti::kernels
