// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Returns when all ranks have called it.
/// Collective over `comm`; blocking (on device memory with a stream: ordered on it).
/// Buffers: none.
/// The caller owns the buffers; host, pinned, managed or device memory, of one class on all ranks.
/// Every rank passes the same datatype, no buffers and options. Errors: ErrorCode::invalid_argument and relatives for
/// wrong arguments (found before anything is sent); timeout, aborted and mpi for failed calls. Counterpart:
/// MPI_Barrier.
TUTTI_EXPORT void barrier(const Communicator& comm, const Options& options = {});

/// The same, nonblocking: returns at once; the buffers must stay valid and untouched until the request is done.
/// Calls on one communicator are matched in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request ibarrier(const Communicator& comm, const Options& options = {});

/// The same, persistent: binds the buffers; start() runs it, as often as wanted. Collective; the ranks create the
/// persistent operations of a communicator in the same order and may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request barrier_init(const Communicator& comm, const Options& options = {});

}  // namespace tutti
