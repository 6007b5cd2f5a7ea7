// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Gives rank r block r of the root's buffer.
/// Collective over `comm`. Blocking; on device memory with a stream, stream-ordered.
/// Shape: `recv` has n elements; `send` at the root has n times the number of ranks. Other ranks ignore `send`. With
/// in_place as `recv` at the root, the root's block stays in its place in `send`.
/// Memory: host, pinned, managed or device, of one class (host or device) on all ranks. The caller owns the buffers.
/// Equal on all ranks: datatype, count, root and options.
/// Errors: ErrorCode::invalid_argument or a related code for wrong arguments, before anything is sent; timeout, aborted
/// or mpi for a call that fails.
/// Counterpart: MPI_Scatter, ncclScatter.
TUTTI_EXPORT void scatter(const Communicator& comm, ConstBuffer send, Buffer recv, int root,
                          const Options& options = {});

/// Nonblocking form: returns at once; the buffers must stay valid and untouched until the request is done. Calls on one
/// communicator match in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request iscatter(const Communicator& comm, ConstBuffer send, Buffer recv, int root,
                                            const Options& options = {});

/// Persistent form: binds the buffers; each start() runs the operation again. Collective: all ranks create the
/// persistent operations of a communicator in the same order, but may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request scatter_init(const Communicator& comm, ConstBuffer send, Buffer recv, int root,
                                                const Options& options = {});

/// Refuse temporary buffers, whose memory would be gone before the operation is done, when they are compiled.
TUTTI_REFUSE_TEMPORARIES(iscatter)
TUTTI_REFUSE_TEMPORARIES(scatter_init)

}  // namespace tutti
