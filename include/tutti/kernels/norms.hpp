// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>

namespace tutti::kernels {

enum class Norm : std::uint8_t { l1, l2, linf };

/// What ranks add (l1, l2) or take the maximum of (linf) to get the norm of distributed data: sum of |x|, sum of x^2 or
/// largest |x|, in float64 over fixed blocks, so the bits depend on the data alone. float32, float64, float16 or
/// bfloat16 in host memory; `partitions` pieces of work, 0: one a thread of Kokkos' host space. A NaN gives NaN;
/// nothing gives 0. Local, blocking. Throws Error(invalid_datatype).
[[nodiscard]] TUTTI_EXPORT double norm_part(Norm norm, DatatypeKind type, const void* data, std::size_t count,
                                            std::size_t partitions = 0);

/// The norm of local data: norm_part, and its square root for l2. Counterpart: BLAS asum, nrm2.
[[nodiscard]] TUTTI_EXPORT double norm(Norm norm, DatatypeKind type, const void* data, std::size_t count,
                                       std::size_t partitions = 0);

}  // namespace tutti::kernels
