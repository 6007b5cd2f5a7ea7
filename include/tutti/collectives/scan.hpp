// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Gives rank r the combination of the vectors of ranks 0 to r, in rank order.
/// Collective over `comm`. Blocking; on device memory with a stream, stream-ordered.
/// Shape: `send` and `recv` have n elements. With in_place as `send`, the contribution is read from `recv`.
/// Memory: host, pinned, managed or device, of one class (host or device) on all ranks. The caller owns the buffers.
/// Equal on all ranks: datatype, count, operation and options.
/// Errors: ErrorCode::invalid_argument or a related code for wrong arguments, before anything is sent; timeout, aborted
/// or mpi for a call that fails.
/// Counterpart: MPI_Scan.
TUTTI_EXPORT void scan(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op,
                       const Options& options = {});

/// Nonblocking form: returns at once; the buffers must stay valid and untouched until the request is done. Calls on one
/// communicator match in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request iscan(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op,
                                         const Options& options = {});

/// Persistent form: binds the buffers; each start() runs the operation again. Collective: all ranks create the
/// persistent operations of a communicator in the same order, but may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request scan_init(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op,
                                             const Options& options = {});

/// Refuse temporary buffers, whose memory would be gone before the operation is done, when they are compiled.
TUTTI_REFUSE_TEMPORARIES(iscan)
TUTTI_REFUSE_TEMPORARIES(scan_init)

}  // namespace tutti
