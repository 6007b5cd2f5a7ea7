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

/// All ranks get the ranks' blocks, of differing sizes, at given places.
/// Collective over `comm`; blocking (on device memory with a stream: ordered on it).
/// Shape: block r has recv_counts[r] elements from element recv_displs[r] of `recv`; recv_counts is equal on all ranks,
/// the displacements may differ; `send` has recv_counts[rank] elements. in_place as `send`: the block is in its place.
/// The caller owns the buffers; host, pinned, managed or device memory, of one class on all ranks.
/// Every rank passes the same datatype, counts and options. Errors: ErrorCode::invalid_argument and relatives for wrong
/// arguments (found before anything is sent); timeout, aborted and mpi for failed calls.
/// Counterpart: MPI_Allgatherv.
TUTTI_EXPORT void allgatherv(const Communicator& comm, ConstBuffer send, Buffer recv,
                             std::span<const std::size_t> recv_counts, std::span<const std::size_t> recv_displs,
                             const Options& options = {});

/// The same, nonblocking: returns at once; the buffers must stay valid and untouched until the request is done.
/// Calls on one communicator are matched in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request iallgatherv(const Communicator& comm, ConstBuffer send, Buffer recv,
                                               std::span<const std::size_t> recv_counts,
                                               std::span<const std::size_t> recv_displs, const Options& options = {});

/// The same, persistent: binds the buffers; start() runs it, as often as wanted. Collective; the ranks create the
/// persistent operations of a communicator in the same order and may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request allgatherv_init(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                   std::span<const std::size_t> recv_counts,
                                                   std::span<const std::size_t> recv_displs,
                                                   const Options& options = {});

}  // namespace tutti
