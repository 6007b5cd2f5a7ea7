// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/parts.h>
#include <cstddef>
#include <span>
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>

#if TUTTI_HAS_TRAINING
#include <tutti/kernels/device_training.hpp>
#endif

/// The kernels for device memory. All are local and stream-ordered: they return at once, read and write in stream
/// order, and produce the numbers of the host kernels of the same name. "Device memory" here includes managed memory,
/// and pinned memory that a kernel can access. A stream of kind none is
/// the default stream. Errors of all: not_built if this library has no kernels for the device, and cuda.
namespace tutti::kernels::device {

/// Returns true if this library has kernels for device memory: it was built with a Kokkos that has CUDA, or where nvcc
/// was found.
[[nodiscard]] TUTTI_EXPORT bool is_available() noexcept;

/// As tutti::kernels::combine, with the same bits. Throws Error(invalid_op) also for user operations, which run on the
/// host only, and Error(not_supported) for more than 40 inputs unless all but one lie at equal distances.
TUTTI_EXPORT void combine(Datatype type, const ReduceOp& op, std::span<const void* const> inputs, void* output,
                          std::size_t count, Stream stream);

/// Computes to[i] = from[i], rounded to nearest: float32 to or from bfloat16 or float16, or a copy within one of these
/// types. Throws Error(invalid_datatype).
TUTTI_EXPORT void convert(DatatypeKind from_type, const void* from, DatatypeKind to_type, void* to, std::size_t count,
                          Stream stream);

}  // namespace tutti::kernels::device
