// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Returns on a rank once all ranks have called it.
/// Collective over `comm`. Blocking; if Options::memory names device memory and a stream is given, stream-ordered.
/// Buffers: none.
/// Equal on all ranks: options.
/// Errors: ErrorCode::invalid_argument or a related code for wrong arguments, before anything is sent; timeout, aborted
/// or mpi for a call that fails.
/// Counterpart: MPI_Barrier.
TUTTI_EXPORT void barrier(const Communicator& comm, const Options& options = {});

/// Nonblocking form: returns at once. Calls on one communicator match in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request ibarrier(const Communicator& comm, const Options& options = {});

/// Persistent form: each start() runs the operation again. Collective: all ranks create the persistent operations of a
/// communicator in the same order, but may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request barrier_init(const Communicator& comm, const Options& options = {});

}  // namespace tutti
