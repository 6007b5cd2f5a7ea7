// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>

namespace tutti::kernels {

/// output[s] = sum of the rows offsets[s] .. offsets[s + 1] - 1 of `values`, for every segment s < offsets.size() - 1,
/// in the order of the rows. Rows are `dim` values one after the other; values and output are of `type`: float32,
/// float64, float16 or bfloat16 (these two add in float32 and round once), in host memory, not overlapping. An empty
/// segment gives zeros. `partitions` pieces of work, 0: one a thread of Kokkos' host space; the result does not depend
/// on it. Local, blocking. Throws Error(invalid_datatype), Error(invalid_argument) for offsets that are empty or
/// descend.
TUTTI_EXPORT void segmented_sum(DatatypeKind type, const void* values, std::size_t dim,
                                std::span<const std::int64_t> offsets, void* output, std::size_t partitions = 0);

}  // namespace tutti::kernels
