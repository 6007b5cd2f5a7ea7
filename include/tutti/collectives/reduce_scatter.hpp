// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/counts.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Combines the ranks' vectors element by element and gives rank r recv_counts[r] elements of the result, in rank
/// order.
/// Collective over `comm`. Blocking; on device memory with a stream, stream-ordered.
/// Shape: `send` has as many elements as recv_counts add up to; `recv` has recv_counts[rank]. With in_place as `send`,
/// the whole vector is read from `recv`, whose start then holds the result.
/// Memory: host, pinned, managed or device, of one class (host or device) on all ranks. The caller owns the buffers.
/// Equal on all ranks: datatype, recv_counts, operation and options.
/// Errors: ErrorCode::invalid_argument or a related code for wrong arguments, before anything is sent; timeout, aborted
/// or mpi for a call that fails.
/// Counterpart: MPI_Reduce_scatter.
TUTTI_EXPORT void reduce_scatter(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                                 ReduceOp op, const Options& options = {});

/// Nonblocking form: returns at once; the buffers must stay valid and untouched until the request is done. Calls on one
/// communicator match in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request ireduce_scatter(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                   const Counts& recv_counts, ReduceOp op, const Options& options = {});

/// Persistent form: binds the buffers; each start() runs the operation again. Collective: all ranks create the
/// persistent operations of a communicator in the same order, but may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request reduce_scatter_init(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                       const Counts& recv_counts, ReduceOp op,
                                                       const Options& options = {});

/// Refuse temporary buffers, whose memory would be gone before the operation is done, when they are compiled.
TUTTI_REFUSE_TEMPORARIES(ireduce_scatter)
TUTTI_REFUSE_TEMPORARIES(reduce_scatter_init)

}  // namespace tutti
