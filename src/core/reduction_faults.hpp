// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tutti/reduce_op.hpp>

namespace tutti::detail {

/// The reductions that an MPI library gets wrong. Plain bytes, so that ranks can exchange it.
class ReductionFaults {
 public:
  void add(ReduceKind op, DatatypeKind type) { ops_of_[at(type)] |= bit(op); }
  void add(const ReductionFaults& other) {
    for (std::size_t i = 0; i < ops_of_.size(); ++i) ops_of_[i] |= other.ops_of_[i];
  }
  [[nodiscard]] bool has(ReduceKind op, DatatypeKind type) const { return (ops_of_[at(type)] & bit(op)) != 0; }

 private:
  static std::size_t at(DatatypeKind type) { return static_cast<std::size_t>(type); }
  static std::uint32_t bit(ReduceKind op) { return 1U << static_cast<unsigned>(op); }
  std::array<std::uint32_t, static_cast<std::size_t>(DatatypeKind::bytes) + 1> ops_of_{};
};

/// MPI_Reduce_local, or a stand-in for it.
using ReduceLocal = int (*)(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op);

/// Tries the reductions of integers and of pairs of them, on values with and without the top bit: MPICH 4.0.2 compares
/// unsigned integers as signed ones. Local, about 20 us.
[[nodiscard]] ReductionFaults find_reduction_faults(ReduceLocal reduce);

/// The faults of this process's MPI, found at the first call. MPI must be running.
[[nodiscard]] const ReductionFaults& own_reduction_faults();

}  // namespace tutti::detail
