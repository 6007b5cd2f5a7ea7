// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>

namespace tutti::kernels {

/// Computes output[s] as the sum of the rows offsets[s] .. offsets[s + 1] - 1 of `values`, in the order of the rows,
/// for every segment s < offsets.size() - 1. An empty segment gives zeros. Rows have `dim` consecutive values. Values
/// and output have the same `type`: float32, float64, float16 or bfloat16; the last two add in float32 and round once.
/// Both are in host memory, owned by the caller, and do not overlap. `partitions` is the number of parts of the work,
/// 0: one per thread of Kokkos' host space; the result does not depend on it. Local, blocking. Throws
/// Error(invalid_datatype), and Error(invalid_argument) for offsets that are empty or descend.
TUTTI_EXPORT void segmented_sum(DatatypeKind type, const void* values, std::size_t dim,
                                std::span<const std::int64_t> offsets, void* output, std::size_t partitions = 0);

}  // namespace tutti::kernels
