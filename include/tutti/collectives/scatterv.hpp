// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/counts.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Gives each rank a block of the root's buffer; block sizes and positions may differ.
/// Collective over `comm`. Blocking; on device memory with a stream, stream-ordered.
/// Shape: rank r receives send_counts[r] elements, from element send_displs[r] of the root's `send`; send_counts[r]
/// equals the number of elements in rank r's `recv`. Other ranks ignore `send`, counts and displacements. The root may
/// pass in_place as `recv`.
/// Memory: host, pinned, managed or device, of one class (host or device) on all ranks. The caller owns the buffers.
/// Equal on all ranks: datatype, root and options.
/// Errors: ErrorCode::invalid_argument or a related code for wrong arguments, before anything is sent; timeout, aborted
/// or mpi for a call that fails.
/// Counterpart: MPI_Scatterv.
TUTTI_EXPORT void scatterv(const Communicator& comm, ConstBuffer send, const Counts& send_counts,
                           const Counts& send_displs, Buffer recv, int root, const Options& options = {});

/// Nonblocking form: returns at once; the buffers must stay valid and untouched until the request is done. Calls on one
/// communicator match in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request iscatterv(const Communicator& comm, ConstBuffer send, const Counts& send_counts,
                                             const Counts& send_displs, Buffer recv, int root,
                                             const Options& options = {});

/// Persistent form: binds the buffers; each start() runs the operation again. Collective: all ranks create the
/// persistent operations of a communicator in the same order, but may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request scatterv_init(const Communicator& comm, ConstBuffer send, const Counts& send_counts,
                                                 const Counts& send_displs, Buffer recv, int root,
                                                 const Options& options = {});

/// Refuse temporary buffers, whose memory would be gone before the operation is done, when they are compiled.
TUTTI_REFUSE_TEMPORARIES_BESIDE_COUNTS(iscatterv)
TUTTI_REFUSE_TEMPORARIES_BESIDE_COUNTS(scatterv_init)

}  // namespace tutti
