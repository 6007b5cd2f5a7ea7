// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>
#include <vector>

namespace tutti {

/// The forms of a collective: allreduce, iallreduce, allreduce_init.
enum class CallForm : std::uint8_t { blocking = 0, nonblocking = 1, persistent = 2 };

/// The facts that the choice of an algorithm for a collective call depends on. They are equal on all ranks.
struct CallFacts {
  CallForm form = CallForm::blocking;
  MemoryKind memory = MemoryKind::host;  ///< of the buffers; detect and pinned count as host, managed as device
  Datatype type{DatatypeKind::float32};
  ReduceKind op = ReduceKind::sum;  ///< of reductions
  std::size_t count = 1;            ///< the call's; for allgatherv and reduce_scatter the sum of the counts
  int root = 0;                     ///< of operations with a root
  Accumulation accumulation = Accumulation::full;
};

/// One way to make a call.
struct CallAlgorithm {
  std::string name{};        ///< for Options::algorithm: "shm:slots", "mpi:ring", "native"
  std::string why_not{};     ///< why the library does not choose it by itself; empty if it can
  bool can_be_named = true;  ///< false: Options::algorithm cannot ask for it here either
};

/// Lists the ways to make a call of `operation` ("allreduce", "alltoallv") on a communicator: the library's own choice,
/// then the others that it can choose, then the rest. For device memory the answer depends on
/// Communicator::prepare_device(). Local; the same on all ranks. Errors: invalid_argument (no such operation; the text
/// lists them).
[[nodiscard]] TUTTI_EXPORT std::vector<CallAlgorithm> algorithms(const Communicator& comm, std::string_view operation,
                                                                 const CallFacts& facts = {});

}  // namespace tutti
