// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>

#include "collectives/call.hpp"
#include "collectives/overlap.hpp"

namespace tutti::detail {

/// The arguments of a collective as its caller passes them. Refers to the caller's objects. Buffers change where they
/// have layouts or the host MPI's MPI_IN_PLACE.
struct Passed {
  Operation operation;
  ConstBuffer& send;
  Buffer& recv;
  const Options& options;
  int root = 0;
  const ReduceOp* op = nullptr;
  BlockLists lists{};  ///< as they are significant on this rank
};

/// Checks the arguments of a collective that has two buffers, by its row, and makes the call of them. Throws an Error
/// that names the argument, the rank and the remedy, before anything is sent.
[[nodiscard]] CheckedCall checked_call(const Communicator& comm, const Passed& passed);

}  // namespace tutti::detail
