// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <tutti/detail/export.hpp>

// The compiler's type where the processor converts it. GCC 12 has no _Float16 in C++ for aarch64.
#if !defined(TUTTI_DEVICE_CODE) && defined(__aarch64__)
#define TUTTI_HARDWARE_FLOAT16 __fp16
#elif !defined(TUTTI_DEVICE_CODE) && defined(__FLT16_MAX__) && (defined(__F16C__) || defined(__AVX512FP16__))
#define TUTTI_HARDWARE_FLOAT16 _Float16
#endif

namespace tutti {

namespace detail {

TUTTI_FUNCTION std::uint32_t float_bits(float x) { return __builtin_bit_cast(std::uint32_t, x); }
TUTTI_FUNCTION float float_from_bits(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// Selects without control flow, because compilers do not vectorise branches around floating-point operations.
TUTTI_FUNCTION std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) {
  return no ^ ((yes ^ no) & (0U - static_cast<std::uint32_t>(condition)));
}

/// Rounds |x|, given as bits and not NaN, to a format of MantissaBits and Bias, ties to even. Has no upper limit: the
/// caller handles overflow.
template <int MantissaBits, int Bias>
TUTTI_FUNCTION std::uint32_t round_magnitude(std::uint32_t magnitude) {
  constexpr int shift = 23 - MantissaBits;
  constexpr std::uint32_t smallest_normal = static_cast<std::uint32_t>(128 - Bias) << 23;
  // Adding a number whose last bit equals the format's smallest value rounds a subnormal correctly.
  constexpr std::uint32_t magic = static_cast<std::uint32_t>(127 + 1 - Bias - MantissaBits + 23) << 23;
  const std::uint32_t subnormal = float_bits(float_from_bits(magnitude) + float_from_bits(magic)) - magic;
  const std::uint32_t even = (magnitude >> shift) & 1U;
  const std::uint32_t normal = (magnitude - smallest_normal + (1U << 23) + (1U << (shift - 1)) - 1U + even) >> shift;
  return select(magnitude < smallest_normal, subnormal, normal);
}

TUTTI_FUNCTION std::uint16_t float16_bits(float x) {
#ifdef TUTTI_HARDWARE_FLOAT16
  return __builtin_bit_cast(std::uint16_t, static_cast<TUTTI_HARDWARE_FLOAT16>(x));
#else
  const std::uint32_t bits = float_bits(x);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t nan = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
  const std::uint32_t finite = select(magnitude >= 0x47800000U, 0x7c00U, round_magnitude<10, 15>(magnitude));
  return static_cast<std::uint16_t>(sign | select(magnitude > 0x7f800000U, nan, finite));
#endif
}

/// Converts in integer arithmetic, which every compiler vectorises.
TUTTI_FUNCTION float widen_float16(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t magnitude = static_cast<std::uint32_t>(half & 0x7fffU) << 13;
  const std::uint32_t normal = magnitude + (112U << 23);
  const std::uint32_t special = (magnitude + (224U << 23)) | select(magnitude > 0x0f800000U, 0x00400000U, 0U);
  const std::uint32_t subnormal = float_bits(float_from_bits(magnitude + (113U << 23)) - float_from_bits(113U << 23));
  const std::uint32_t finite = select(magnitude < 0x00800000U, subnormal, normal);
  return float_from_bits(sign | select(magnitude >= 0x0f800000U, special, finite));
}

TUTTI_FUNCTION float float16_to_float(std::uint16_t half) {
#ifdef TUTTI_HARDWARE_FLOAT16
  return static_cast<float>(__builtin_bit_cast(TUTTI_HARDWARE_FLOAT16, half));
#else
  return widen_float16(half);
#endif
}

}  // namespace detail

/// IEEE half precision. Conversion from float rounds to nearest, ties to even; a NaN becomes a quiet NaN.
/// Counterpart: ncclFloat16, __half, _Float16.
struct float16_t {
  std::uint16_t bits;
  float16_t() = default;
  TUTTI_FUNCTION explicit float16_t(float x) : bits(detail::float16_bits(x)) {}
  TUTTI_FUNCTION explicit operator float() const { return detail::float16_to_float(bits); }
};

/// The upper half of a float. Conversion from float rounds to nearest, ties to even; a NaN becomes a quiet NaN.
/// Counterpart: ncclBfloat16, __nv_bfloat16.
struct bfloat16_t {
  std::uint16_t bits;
  bfloat16_t() = default;
  TUTTI_FUNCTION explicit bfloat16_t(float x) {
    const std::uint32_t word = detail::float_bits(x);
    const std::uint32_t rounded = (word + 0x7fffU + ((word >> 16) & 1U)) >> 16;
    const std::uint32_t nan = (word >> 16) | 0x0040U;
    bits = static_cast<std::uint16_t>((word & 0x7fffffffU) > 0x7f800000U ? nan : rounded);
  }
  TUTTI_FUNCTION explicit operator float() const {
    return detail::float_from_bits(static_cast<std::uint32_t>(bits) << 16);
  }
};

/// OCP FP8 E4M3: no infinity, NaN 0x7f, largest value 448. Conversion from float rounds to nearest, ties to even, and
/// saturates at 448, infinity included. Counterpart: ncclFloat8e4m3, __nv_fp8_e4m3.
struct float8_e4m3_t {
  std::uint8_t bits;
  float8_e4m3_t() = default;
  TUTTI_FUNCTION explicit float8_e4m3_t(float x) {
    const std::uint32_t word = detail::float_bits(x);
    const std::uint32_t magnitude = word & 0x7fffffffU;
    const std::uint32_t rounded = detail::round_magnitude<3, 7>(magnitude);
    const std::uint32_t finite = detail::select(magnitude >= 0x43e00000U, 0x7eU, rounded) | ((word >> 24) & 0x80U);
    bits = static_cast<std::uint8_t>(detail::select(magnitude > 0x7f800000U, 0x7fU, finite));
  }
  TUTTI_FUNCTION explicit operator float() const {
    const std::uint32_t magnitude = bits & 0x7fU;
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x80U) << 24;
    const std::uint32_t subnormal = detail::float_bits(static_cast<float>(magnitude) * 0x1p-9F);
    const std::uint32_t finite = detail::select(magnitude < 8U, subnormal, (magnitude << 20) + (120U << 23));
    return detail::float_from_bits(sign | detail::select(magnitude == 0x7fU, 0x7fc00000U, finite));
  }
};

/// OCP FP8 E5M2: has infinities and NaNs, largest value 57344. Conversion from float rounds to nearest, ties to even,
/// and saturates at 57344, infinity included; NaN becomes 0x7e. Counterpart: ncclFloat8e5m2, __nv_fp8_e5m2.
struct float8_e5m2_t {
  std::uint8_t bits;
  float8_e5m2_t() = default;
  TUTTI_FUNCTION explicit float8_e5m2_t(float x) {
    const std::uint32_t word = detail::float_bits(x);
    const std::uint32_t magnitude = word & 0x7fffffffU;
    const std::uint32_t rounded = detail::round_magnitude<2, 15>(magnitude);
    const std::uint32_t finite = detail::select(magnitude >= 0x47600000U, 0x7bU, rounded) | ((word >> 24) & 0x80U);
    bits = static_cast<std::uint8_t>(detail::select(magnitude > 0x7f800000U, 0x7eU, finite));
  }
  TUTTI_FUNCTION explicit operator float() const {
    return detail::widen_float16(static_cast<std::uint16_t>(bits << 8));
  }
};

}  // namespace tutti
