// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <tutti/detail/export.hpp>
#include <tutti/float_types.hpp>

/// A stored number as float32, for host and device: by the instruction of the device where there is one. In rows of
/// bytes it still needs the row's scale.
namespace tutti::kernels {

TUTTI_FUNCTION float row_value(float x) { return x; }
TUTTI_FUNCTION float row_value(bfloat16_t x) { return static_cast<float>(x); }
TUTTI_FUNCTION float row_value(std::uint8_t x) { return static_cast<float>(x); }
TUTTI_FUNCTION float row_value(float16_t x) {
#if defined(__CUDA_ARCH__)
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
#elif defined(TUTTI_DEVICE_CODE)
  return static_cast<float>(__builtin_bit_cast(_Float16, x.bits));
#else
  return detail::widen_float16(x.bits);
#endif
}

}  // namespace tutti::kernels
