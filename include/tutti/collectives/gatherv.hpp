// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// The root gets the ranks' blocks, of differing sizes, at given places.
/// Collective over `comm`; blocking (on device memory with a stream: ordered on it).
/// Shape: at the root block r has recv_counts[r] elements from element recv_displs[r] of `recv`; recv_counts[r] equals
/// the elements of rank r's `send`. Elsewhere `recv`, counts and displacements are not looked at. in_place as `send` at
/// the root. The caller owns the buffers; host, pinned, managed or device memory, of one class on all ranks. Every rank
/// passes the same datatype, root and options. Errors: ErrorCode::invalid_argument and relatives for wrong arguments
/// (found before anything is sent); timeout, aborted and mpi for failed calls. Counterpart: MPI_Gatherv.
TUTTI_EXPORT void gatherv(const Communicator& comm, ConstBuffer send, Buffer recv,
                          std::span<const std::size_t> recv_counts, std::span<const std::size_t> recv_displs, int root,
                          const Options& options = {});

/// The same, nonblocking: returns at once; the buffers must stay valid and untouched until the request is done.
/// Calls on one communicator are matched in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request igatherv(const Communicator& comm, ConstBuffer send, Buffer recv,
                                            std::span<const std::size_t> recv_counts,
                                            std::span<const std::size_t> recv_displs, int root,
                                            const Options& options = {});

/// The same, persistent: binds the buffers; start() runs it, as often as wanted. Collective; the ranks create the
/// persistent operations of a communicator in the same order and may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request gatherv_init(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                std::span<const std::size_t> recv_counts,
                                                std::span<const std::size_t> recv_displs, int root,
                                                const Options& options = {});

}  // namespace tutti
