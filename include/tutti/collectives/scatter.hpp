// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Rank r gets block r of the root's buffer.
/// Collective over `comm`; blocking (on device memory with a stream: ordered on it).
/// Shape: `recv` has n elements, `send` at the root n times the number of ranks (elsewhere it is not looked at).
/// in_place as `recv` at the root: its block stays in its place in `send`. The caller owns the buffers; host, pinned,
/// managed or device memory, of one class on all ranks. Every rank passes the same datatype, count, root and options.
/// Errors: ErrorCode::invalid_argument and relatives for wrong arguments (found before anything is sent); timeout,
/// aborted and mpi for failed calls. Counterpart: MPI_Scatter, ncclScatter.
TUTTI_EXPORT void scatter(const Communicator& comm, ConstBuffer send, Buffer recv, int root,
                          const Options& options = {});

/// The same, nonblocking: returns at once; the buffers must stay valid and untouched until the request is done.
/// Calls on one communicator are matched in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request iscatter(const Communicator& comm, ConstBuffer send, Buffer recv, int root,
                                            const Options& options = {});

/// The same, persistent: binds the buffers; start() runs it, as often as wanted. Collective; the ranks create the
/// persistent operations of a communicator in the same order and may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request scatter_init(const Communicator& comm, ConstBuffer send, Buffer recv, int root,
                                                const Options& options = {});

}  // namespace tutti
