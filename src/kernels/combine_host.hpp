// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "kernels/combine_pair_functors.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#define TUTTI_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#elif defined(__clang__)
#define TUTTI_INDEPENDENT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define TUTTI_INDEPENDENT_LOOP
#endif

/// Plain host loops over the functors. The output equals an input or overlaps none, so the iterations are independent.
namespace tutti::kernels {

using Inputs = std::span<const void* const>;

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

/// Any number of inputs: pieces whose accumulators stay in the first-level cache.
template <typename Functor>
void combine_blocked(const Functor& f, Inputs inputs, typename Functor::Value* out, std::size_t count) {
  using Value = typename Functor::Value;
  constexpr std::size_t block = 1024;
  typename Functor::Acc acc[block];
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t n = std::min(block, count - begin);
    const auto* first = static_cast<const Value*>(inputs[0]) + begin;
    for (std::size_t i = 0; i < n; ++i) acc[i] = f.load(first[i]);
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      const auto* next = static_cast<const Value*>(inputs[k]) + begin;
      for (std::size_t i = 0; i < n; ++i) acc[i] = f.join(acc[i], f.load(next[i]));
    }
    for (std::size_t i = 0; i < n; ++i) store(f, out + begin + i, acc[i]);
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
      return combine_blocked(f, inputs, out, count);
  }
}

}  // namespace tutti::kernels
