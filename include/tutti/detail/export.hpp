// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if !defined(__cpp_concepts) || __cpp_concepts < 201907L
#error "Tutti's C++ headers need C++20: compile with -std=c++20, or use the C interface, tutti.h"
#endif

#if defined(TUTTI_BUILDING) || defined(__GNUC__)
#define TUTTI_EXPORT __attribute__((visibility("default")))
#else
#define TUTTI_EXPORT
#endif

/// Marks functions that a device compiler compiles for the device too.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define TUTTI_FUNCTION __host__ __device__ inline
#else
#define TUTTI_FUNCTION inline
#endif
/// Defined where that compiler compiles for the device.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define TUTTI_DEVICE_CODE
#endif
