// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Copies the root's buffer to all ranks.
/// Collective over `comm`. Blocking; on device memory with a stream, stream-ordered.
/// Shape: `buffer` has the same number of elements on all ranks. The root reads it; all other ranks write it.
/// Memory: host, pinned, managed or device, of one class (host or device) on all ranks. The caller owns the buffer.
/// Equal on all ranks: datatype, count, root and options.
/// Errors: ErrorCode::invalid_argument or a related code for wrong arguments, before anything is sent; timeout, aborted
/// or mpi for a call that fails.
/// Counterpart: MPI_Bcast, ncclBroadcast.
TUTTI_EXPORT void bcast(const Communicator& comm, Buffer buffer, int root, const Options& options = {});

/// Nonblocking form: returns at once; the buffer must stay valid and untouched until the request is done. Calls on one
/// communicator match in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request ibcast(const Communicator& comm, Buffer buffer, int root,
                                          const Options& options = {});

/// Persistent form: binds the buffer; each start() runs the operation again. Collective: all ranks create the
/// persistent operations of a communicator in the same order, but may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request bcast_init(const Communicator& comm, Buffer buffer, int root,
                                              const Options& options = {});

/// Refuse temporary buffers, whose memory would be gone before the operation is done, when they are compiled.
TUTTI_REFUSE_TEMPORARY(ibcast)
TUTTI_REFUSE_TEMPORARY(bcast_init)

}  // namespace tutti
