// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/operation.hpp>

namespace tutti::commbench {

using tutti::all_operations;
using tutti::Operation;

[[nodiscard]] constexpr bool reduces(Operation operation) { return traits_of(operation).combined != Combined::none; }

/// One vector, not one block a rank.
[[nodiscard]] constexpr bool has_one_vector(Operation operation) {
  const OperationTraits& row = traits_of(operation);
  return row.given == BlockKind::one && row.taken == BlockKind::one;
}

/// Whether each block has a count of its own.
[[nodiscard]] constexpr bool has_counts(Operation operation) {
  const OperationTraits& row = traits_of(operation);
  return row.given == BlockKind::counted || row.taken == BlockKind::counted;
}

/// What algorithm bandwidth is multiplied by to give bus bandwidth, the rate that a link must have for that time
/// whatever the number of ranks: as in nccl-tests (doc/PERFORMANCE.md and, for alltoall, gather and scatter, its
/// sources). The v-forms as those without v; scan and exscan, which NCCL has not, as reduce; 0 for barrier.
[[nodiscard]] double bus_factor(Operation operation, int ranks);

/// GB/s (10^9): bytes over seconds, where bytes is the size as nccl-tests defines it: of the vector for bcast, reduce,
/// allreduce and scans, of all blocks together for the others.
[[nodiscard]] double algorithm_bandwidth(std::size_t bytes, double seconds);

}  // namespace tutti::commbench
