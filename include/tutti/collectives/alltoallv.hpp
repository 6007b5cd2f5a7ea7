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

/// Rank s sends send_counts[r] elements from element send_displs[r] of `send` to every rank r, which has them at
/// recv_displs[s] of `recv`.
/// Collective over `comm`; blocking (on device memory with a stream: ordered on it).
/// Shape: send_counts[r] of rank s equals recv_counts[s] of rank r. in_place as `send`: data and counts are those of
/// `recv`. The caller owns the buffers; host, pinned, managed or device memory, of one class on all ranks. Every rank
/// passes the same datatype and options. Errors: ErrorCode::invalid_argument and relatives for wrong arguments (found
/// before anything is sent); timeout, aborted and mpi for failed calls. Counterpart: MPI_Alltoallv.
TUTTI_EXPORT void alltoallv(const Communicator& comm, ConstBuffer send, std::span<const std::size_t> send_counts,
                            std::span<const std::size_t> send_displs, Buffer recv,
                            std::span<const std::size_t> recv_counts, std::span<const std::size_t> recv_displs,
                            const Options& options = {});

/// The same, nonblocking: returns at once; the buffers must stay valid and untouched until the request is done.
/// Calls on one communicator are matched in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request ialltoallv(const Communicator& comm, ConstBuffer send,
                                              std::span<const std::size_t> send_counts,
                                              std::span<const std::size_t> send_displs, Buffer recv,
                                              std::span<const std::size_t> recv_counts,
                                              std::span<const std::size_t> recv_displs, const Options& options = {});

/// The same, persistent: binds the buffers; start() runs it, as often as wanted. Collective; the ranks create the
/// persistent operations of a communicator in the same order and may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request alltoallv_init(const Communicator& comm, ConstBuffer send,
                                                  std::span<const std::size_t> send_counts,
                                                  std::span<const std::size_t> send_displs, Buffer recv,
                                                  std::span<const std::size_t> recv_counts,
                                                  std::span<const std::size_t> recv_displs,
                                                  const Options& options = {});

}  // namespace tutti
