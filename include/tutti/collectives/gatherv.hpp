// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/counts.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Gathers blocks of different sizes from all ranks and places them in the root's `recv`.
/// Collective over `comm`. Blocking; on device memory with a stream, stream-ordered.
/// Shape: at the root, block r has recv_counts[r] elements and starts at element recv_displs[r] of `recv`;
/// recv_counts[r] equals the number of elements in rank r's `send`. Other ranks ignore `recv`, counts and
/// displacements. The root may pass in_place as `send`.
/// Memory: host, pinned, managed or device, of one class (host or device) on all ranks. The caller owns the buffers.
/// Equal on all ranks: datatype, root and options.
/// Errors: ErrorCode::invalid_argument or a related code for wrong arguments, before anything is sent; timeout, aborted
/// or mpi for a call that fails.
/// Counterpart: MPI_Gatherv.
TUTTI_EXPORT void gatherv(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                          const Counts& recv_displs, int root, const Options& options = {});

/// Nonblocking form: returns at once; the buffers must stay valid and untouched until the request is done. Calls on one
/// communicator match in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request igatherv(const Communicator& comm, ConstBuffer send, Buffer recv,
                                            const Counts& recv_counts, const Counts& recv_displs, int root,
                                            const Options& options = {});

/// Persistent form: binds the buffers; each start() runs the operation again. Collective: all ranks create the
/// persistent operations of a communicator in the same order, but may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request gatherv_init(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                const Counts& recv_counts, const Counts& recv_displs, int root,
                                                const Options& options = {});

/// Refuse temporary buffers, whose memory would be gone before the operation is done, when they are compiled.
TUTTI_REFUSE_TEMPORARIES(igatherv)
TUTTI_REFUSE_TEMPORARIES(gatherv_init)

}  // namespace tutti
