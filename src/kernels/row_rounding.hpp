// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/lanes.hpp"

/// Sixteen float32 values as bits of a narrower type. Each is rounded up or down as its random bits say; where there is
/// no noise, to nearest, ties to even. A NaN stays a NaN.
namespace tutti::kernels {

inline void bits_of(UintLanes& to, const Lanes& from) { std::memcpy(&to, &from, sizeof to); }

/// In [0, 1), steps of 2^-24.
inline void unit_of(Lanes& to, const UintLanes& noise) {
  to = __builtin_convertvector(reinterpret_cast<IntLanes>(noise >> 8), Lanes) * 0x1p-24F;
}

[[gnu::always_inline]] inline void round_bfloat16(UintLanes& to, const Lanes& from, const UintLanes* noise) {
  UintLanes word;
  bits_of(word, from);
  const UintLanes below = noise != nullptr ? *noise & 0xffffU : ((word >> 16) & 1U) + 0x7fffU;
  to = (word & 0x7fffffffU) > 0x7f800000U ? (word >> 16) | 0x0040U : (word + below) >> 16;
}

/// Normal numbers by noise below the last bit that is kept; below 2^-14, where values are multiples of 2^-24, by
/// comparing what is cut with the noise.
[[gnu::always_inline]] inline void round_float16(UintLanes& to, const Lanes& from, const UintLanes& noise) {
  UintLanes word;
  bits_of(word, from);
  const UintLanes sign = (word >> 16) & 0x8000U;
  const UintLanes magnitude = word & 0x7fffffffU;
  const UintLanes smallest_normal = UintLanes{} + (113U << 23);
  const UintLanes infinity = UintLanes{} + 0x7c00U;
  UintLanes normal = (magnitude + (noise & 0x1fffU) - (112U << 23)) >> 13;
  normal = normal < infinity ? normal : infinity;
  const UintLanes small = magnitude < smallest_normal ? magnitude : smallest_normal;
  const Lanes steps = reinterpret_cast<Lanes>(small) * 0x1p24F;
  const IntLanes whole = __builtin_convertvector(steps, IntLanes);
  Lanes threshold;
  unit_of(threshold, noise);
  const IntLanes up = threshold < steps - __builtin_convertvector(whole, Lanes);
  const UintLanes finite = magnitude < smallest_normal ? reinterpret_cast<UintLanes>(whole - up) : normal;
  to = sign | (magnitude > 0x7f800000U ? ((magnitude >> 13) & 0x3ffU) | 0x7e00U : finite);
}

/// Steps of x in [0, 255]; a NaN gives 0.
[[gnu::always_inline]] inline void round_step(UintLanes& to, const Lanes& from, const UintLanes* noise) {
  const Lanes zero = {};
  const Lanes most = zero + 255.0F;
  Lanes inside = from > zero ? from : zero;
  inside = inside < most ? inside : most;
  const IntLanes whole = __builtin_convertvector(inside, IntLanes);
  const Lanes cut = inside - __builtin_convertvector(whole, Lanes);
  if (noise != nullptr) {
    Lanes threshold;
    unit_of(threshold, *noise);
    to = reinterpret_cast<UintLanes>(whole - (threshold < cut));
  } else {
    const IntLanes odd = (whole & 1) == 1;
    to = reinterpret_cast<UintLanes>(whole - ((cut > 0.5F) | ((cut == 0.5F) & odd)));
  }
}

}  // namespace tutti::kernels
