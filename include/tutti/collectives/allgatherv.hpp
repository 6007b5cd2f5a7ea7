// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/counts.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Gathers blocks of different sizes from all ranks and places them in every rank's `recv`.
/// Collective over `comm`. Blocking; on device memory with a stream, stream-ordered.
/// Shape: block r has recv_counts[r] elements and starts at element recv_displs[r] of `recv`; `send` has
/// recv_counts[rank] elements. The displacements may differ between ranks. With in_place as `send`, this rank's block
/// is already in its place in `recv`.
/// Memory: host, pinned, managed or device, of one class (host or device) on all ranks. The caller owns the buffers.
/// Equal on all ranks: datatype, recv_counts and options.
/// Errors: ErrorCode::invalid_argument or a related code for wrong arguments, before anything is sent; timeout, aborted
/// or mpi for a call that fails.
/// Counterpart: MPI_Allgatherv.
TUTTI_EXPORT void allgatherv(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                             const Counts& recv_displs, const Options& options = {});

/// Nonblocking form: returns at once; the buffers must stay valid and untouched until the request is done. Calls on one
/// communicator match in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request iallgatherv(const Communicator& comm, ConstBuffer send, Buffer recv,
                                               const Counts& recv_counts, const Counts& recv_displs,
                                               const Options& options = {});

/// Persistent form: binds the buffers; each start() runs the operation again. Collective: all ranks create the
/// persistent operations of a communicator in the same order, but may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request allgatherv_init(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                   const Counts& recv_counts, const Counts& recv_displs,
                                                   const Options& options = {});

/// Refuse temporary buffers, whose memory would be gone before the operation is done, when they are compiled.
TUTTI_REFUSE_TEMPORARIES(iallgatherv)
TUTTI_REFUSE_TEMPORARIES(allgatherv_init)

}  // namespace tutti
