// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Combines the ranks' vectors; rank r gets recv_counts[r] elements of the result, in rank order.
/// Collective over `comm`; blocking (on device memory with a stream: ordered on it).
/// Shape: `send` has the sum of recv_counts elements, `recv` recv_counts[rank]. recv_counts is equal on all ranks.
/// in_place as `send`: the whole vector is in `recv`, whose start then holds the result. The caller owns the buffers;
/// host, pinned, managed or device memory, of one class on all ranks. Every rank passes the same datatype, counts,
/// operation and options. Errors: ErrorCode::invalid_argument and relatives for wrong arguments (found before anything
/// is sent); timeout, aborted and mpi for failed calls. Counterpart: MPI_Reduce_scatter.
TUTTI_EXPORT void reduce_scatter(const Communicator& comm, ConstBuffer send, Buffer recv,
                                 std::span<const std::size_t> recv_counts, ReduceOp op, const Options& options = {});

/// The same, nonblocking: returns at once; the buffers must stay valid and untouched until the request is done.
/// Calls on one communicator are matched in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request ireduce_scatter(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                   std::span<const std::size_t> recv_counts, ReduceOp op,
                                                   const Options& options = {});

/// The same, persistent: binds the buffers; start() runs it, as often as wanted. Collective; the ranks create the
/// persistent operations of a communicator in the same order and may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request reduce_scatter_init(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                       std::span<const std::size_t> recv_counts, ReduceOp op,
                                                       const Options& options = {});

}  // namespace tutti
