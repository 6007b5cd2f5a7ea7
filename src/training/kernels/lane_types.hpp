// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

/// As many floats as a vector register has: of longer vectors compilers make code for single values. Only references
/// are passed: passing such vectors by value would make the calling convention depend on the processor.
namespace tutti::kernels {

#if defined(__AVX512F__)
inline constexpr std::size_t register_bytes = 64;
#elif defined(__AVX2__) && defined(__F16C__)
inline constexpr std::size_t register_bytes = 32;
#else
inline constexpr std::size_t register_bytes = 16;
#endif

using Lanes [[gnu::vector_size(register_bytes)]] = float;
using IntLanes [[gnu::vector_size(register_bytes)]] = std::int32_t;
using UintLanes [[gnu::vector_size(register_bytes)]] = std::uint32_t;
using WideLanes [[gnu::vector_size(register_bytes)]] = double;  ///< half as many
inline constexpr std::size_t lane_count = register_bytes / sizeof(float);

}  // namespace tutti::kernels
