// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/counts.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Sends a block from every rank to every rank; block sizes and positions may differ.
/// Collective over `comm`. Blocking; on device memory with a stream, stream-ordered.
/// Shape: rank s sends send_counts[r] elements, from element send_displs[r] of its `send`, to rank r, which stores them
/// from element recv_displs[s] of its `recv`. send_counts[r] of rank s equals recv_counts[s] of rank r. With in_place
/// as `send`, data and counts are those of `recv`.
/// Memory: host, pinned, managed or device, of one class (host or device) on all ranks. The caller owns the buffers.
/// Equal on all ranks: datatype and options.
/// Errors: ErrorCode::invalid_argument or a related code for wrong arguments, before anything is sent; timeout, aborted
/// or mpi for a call that fails.
/// Counterpart: MPI_Alltoallv.
TUTTI_EXPORT void alltoallv(const Communicator& comm, ConstBuffer send, const Counts& send_counts,
                            const Counts& send_displs, Buffer recv, const Counts& recv_counts,
                            const Counts& recv_displs, const Options& options = {});

/// Nonblocking form: returns at once; the buffers must stay valid and untouched until the request is done. Calls on one
/// communicator match in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request ialltoallv(const Communicator& comm, ConstBuffer send, const Counts& send_counts,
                                              const Counts& send_displs, Buffer recv, const Counts& recv_counts,
                                              const Counts& recv_displs, const Options& options = {});

/// Persistent form: binds the buffers; each start() runs the operation again. Collective: all ranks create the
/// persistent operations of a communicator in the same order, but may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request alltoallv_init(const Communicator& comm, ConstBuffer send, const Counts& send_counts,
                                                  const Counts& send_displs, Buffer recv, const Counts& recv_counts,
                                                  const Counts& recv_displs, const Options& options = {});

/// Refuse temporary buffers, whose memory would be gone before the operation is done, when they are compiled.
TUTTI_REFUSE_TEMPORARIES_BESIDE_COUNTS(ialltoallv)
TUTTI_REFUSE_TEMPORARIES_BESIDE_COUNTS(alltoallv_init)

}  // namespace tutti
