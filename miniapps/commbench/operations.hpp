// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tutti::commbench {

enum class Operation : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  reduce_scatter_block,
  scan,
  exscan,
  gather,
  scatter,
  allgather,
  alltoall,
  gatherv,
  scatterv,
  allgatherv,
  alltoallv,
  reduce_scatter,
};

inline constexpr std::array<Operation, 16> all_operations = {Operation::barrier,
                                                             Operation::bcast,
                                                             Operation::reduce,
                                                             Operation::allreduce,
                                                             Operation::reduce_scatter_block,
                                                             Operation::scan,
                                                             Operation::exscan,
                                                             Operation::gather,
                                                             Operation::scatter,
                                                             Operation::allgather,
                                                             Operation::alltoall,
                                                             Operation::gatherv,
                                                             Operation::scatterv,
                                                             Operation::allgatherv,
                                                             Operation::alltoallv,
                                                             Operation::reduce_scatter};

/// The name of the function.
[[nodiscard]] std::string operation_name(Operation operation);

[[nodiscard]] constexpr bool reduces(Operation operation) {
  return operation == Operation::reduce || operation == Operation::allreduce || operation == Operation::scan ||
         operation == Operation::exscan || operation == Operation::reduce_scatter_block ||
         operation == Operation::reduce_scatter;
}

/// One vector, not one block a rank.
[[nodiscard]] constexpr bool has_one_vector(Operation operation) {
  return operation == Operation::bcast || operation == Operation::reduce || operation == Operation::allreduce ||
         operation == Operation::scan || operation == Operation::exscan;
}

/// What algorithm bandwidth is multiplied by to give bus bandwidth, the rate that a link must have for that time
/// whatever the number of ranks: as in nccl-tests (doc/PERFORMANCE.md and, for alltoall, gather and scatter, its
/// sources). The v-forms as those without v; scan and exscan, which NCCL has not, as reduce; 0 for barrier.
[[nodiscard]] double bus_factor(Operation operation, int ranks);

/// GB/s (10^9): bytes over seconds, where bytes is the size as nccl-tests defines it: of the vector for bcast, reduce,
/// allreduce and scans, of all blocks together for the others.
[[nodiscard]] double algorithm_bandwidth(std::size_t bytes, double seconds);

}  // namespace tutti::commbench
