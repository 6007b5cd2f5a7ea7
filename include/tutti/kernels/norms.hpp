// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>

namespace tutti::kernels {

/// The vector norms.
enum class Norm : std::uint8_t { l1, l2, linf };

/// Computes this rank's part of the norm of distributed data: the sum of |x| (l1), the sum of x^2 (l2) or the largest
/// |x| (linf). Ranks then add their parts (l1, l2) or take the maximum (linf). Works in float64 over fixed blocks, so
/// the bits depend on the data alone. Data is float32, float64, float16 or bfloat16 in host memory. `partitions` is the
/// number of parts of the work; 0: one per thread of Kokkos' host space. NaN in the data gives NaN; no data gives 0.
/// Local, blocking. Throws Error(invalid_datatype).
[[nodiscard]] TUTTI_EXPORT double norm_part(Norm norm, DatatypeKind type, const void* data, std::size_t count,
                                            std::size_t partitions = 0);

/// Computes the norm of local data: norm_part, and for l2 its square root. Otherwise as norm_part. Counterpart: BLAS
/// asum, nrm2.
[[nodiscard]] TUTTI_EXPORT double norm(Norm norm, DatatypeKind type, const void* data, std::size_t count,
                                       std::size_t partitions = 0);

}  // namespace tutti::kernels
