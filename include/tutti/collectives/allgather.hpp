// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Gathers one block from every rank, in rank order, and gives all ranks the result.
/// Collective over `comm`. Blocking; on device memory with a stream, stream-ordered.
/// Shape: `send` has n elements; `recv` has n times the number of ranks. With in_place as `send`, this rank's block is
/// already in its place in `recv`.
/// Memory: host, pinned, managed or device, of one class (host or device) on all ranks. The caller owns the buffers.
/// Equal on all ranks: datatype, count and options.
/// Errors: ErrorCode::invalid_argument or a related code for wrong arguments, before anything is sent; timeout, aborted
/// or mpi for a call that fails.
/// Counterpart: MPI_Allgather, ncclAllGather.
TUTTI_EXPORT void allgather(const Communicator& comm, ConstBuffer send, Buffer recv, const Options& options = {});

/// Nonblocking form: returns at once; the buffers must stay valid and untouched until the request is done. Calls on one
/// communicator match in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request iallgather(const Communicator& comm, ConstBuffer send, Buffer recv,
                                              const Options& options = {});

/// Persistent form: binds the buffers; each start() runs the operation again. Collective: all ranks create the
/// persistent operations of a communicator in the same order, but may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request allgather_init(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                  const Options& options = {});

/// Refuse temporary buffers, whose memory would be gone before the operation is done, when they are compiled.
TUTTI_REFUSE_TEMPORARIES(iallgather)
TUTTI_REFUSE_TEMPORARIES(allgather_init)

}  // namespace tutti
