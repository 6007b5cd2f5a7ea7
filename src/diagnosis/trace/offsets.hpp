// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "diagnosis/trace/record.hpp"

namespace tutti::detail::trace {

/// The first rank of each machine other than that of rank 0.
[[nodiscard]] bool is_first_of_machine(std::span<const std::uint64_t> machines, int rank);

/// Measures what rank 0's clock shows at a moment of this one: by messages to and fro, of which the shortest round trip
/// counts (Cristian's algorithm). Rank 0 and `other` call it. Blocking. The result is that of `other`.
[[nodiscard]] OffsetRecord measure_offset(MPI_Comm comm, int other);

}  // namespace tutti::detail::trace
