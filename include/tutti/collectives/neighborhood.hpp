// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/counts.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// The neighbours of a rank, in the order of the blocks of its neighborhood collectives. proc_null is a neighbour that
/// does not exist, at the border of a grid: its blocks are there, and are neither sent nor written. A rank may be
/// there several times.
struct Neighborhood {
  std::span<const int> sources;       ///< the ranks that blocks come from
  std::span<const int> destinations;  ///< the ranks that blocks go to
};

/// Returns the neighbours of this rank, as long as the communicator lives. They are those of the MPI communicator that
/// `comm` was made of, when it was made: of a Cartesian topology, for each dimension the neighbour below, then the one
/// above; of a graph or a distributed graph, those of MPI_Graph_neighbors or MPI_Dist_graph_neighbors. Local.
/// Errors: invalid_argument if the communicator was made of one without a topology, or is a part of another one.
/// Counterpart: MPI_Dist_graph_neighbors.
[[nodiscard]] TUTTI_EXPORT Neighborhood neighborhood(const Communicator& comm);

/// The neighborhood collectives: every rank sends to its destinations and receives from its sources.
/// All of them: collective over `comm`, which has a topology (see neighborhood()). Blocking; nonblocking with `i` in
/// front: returns at once, the buffers must stay valid and untouched until the request is done, and calls on one
/// communicator match in the order in which they are started; persistent with `_init` behind: binds the buffers, each
/// start() runs the operation again, and all ranks create the persistent operations of a communicator in the same
/// order. Which block arrives where: block i goes to destination i, and block i comes from source i. Where a rank is a
/// neighbour several times, as in a periodic dimension of one or two ranks, the block that goes down arrives from above
/// (MPI 4.1, section 8.6); on graphs the k-th edge to a rank meets its k-th edge from this one.
/// Memory: host and pinned; the caller owns the buffers. Device memory is refused as not_supported. Blocks that a rank
/// sends share no element with those that it receives.
/// Equal at both ends of an edge: the bytes of its block. Equal on all ranks: the operation.
/// Options: memory and timeout. There is one algorithm, and no stream is waited for.
/// Errors: invalid_argument or a related code for wrong arguments, before anything is sent; mismatch where a rank of
/// the node makes another call or passes other sizes; timeout, aborted or mpi for a call that fails.

/// Sends one buffer to every destination. Shape: `recv` has as many elements for each source, in their order.
/// Counterpart: MPI_Neighbor_allgather.
TUTTI_EXPORT void neighbor_allgather(const Communicator& comm, ConstBuffer send, Buffer recv,
                                     const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request ineighbor_allgather(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                       const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request neighbor_allgather_init(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                           const Options& options = {});

/// The same with blocks of several sizes: recv_counts[i] elements of source i go to element recv_displs[i] of `recv`.
/// Counterpart: MPI_Neighbor_allgatherv.
TUTTI_EXPORT void neighbor_allgatherv(const Communicator& comm, ConstBuffer send, Buffer recv,
                                      const Counts& recv_counts, const Counts& recv_displs,
                                      const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request ineighbor_allgatherv(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                        const Counts& recv_counts, const Counts& recv_displs,
                                                        const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request neighbor_allgatherv_init(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                            const Counts& recv_counts, const Counts& recv_displs,
                                                            const Options& options = {});

/// Sends another block to every destination. Shape: `send` has an equal block for each destination, `recv` for each
/// source, in their order. Counterpart: MPI_Neighbor_alltoall.
TUTTI_EXPORT void neighbor_alltoall(const Communicator& comm, ConstBuffer send, Buffer recv,
                                    const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request ineighbor_alltoall(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                      const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request neighbor_alltoall_init(const Communicator& comm, ConstBuffer send, Buffer recv,
                                                          const Options& options = {});

/// The same with blocks of several sizes: destination i gets send_counts[i] elements from element send_displs[i] of
/// `send`; recv_counts[i] elements of source i go to element recv_displs[i] of `recv`.
/// Counterpart: MPI_Neighbor_alltoallv.
TUTTI_EXPORT void neighbor_alltoallv(const Communicator& comm, ConstBuffer send, const Counts& send_counts,
                                     const Counts& send_displs, Buffer recv, const Counts& recv_counts,
                                     const Counts& recv_displs, const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request ineighbor_alltoallv(const Communicator& comm, ConstBuffer send,
                                                       const Counts& send_counts, const Counts& send_displs,
                                                       Buffer recv, const Counts& recv_counts,
                                                       const Counts& recv_displs, const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request neighbor_alltoallv_init(const Communicator& comm, ConstBuffer send,
                                                           const Counts& send_counts, const Counts& send_displs,
                                                           Buffer recv, const Counts& recv_counts,
                                                           const Counts& recv_displs, const Options& options = {});

/// Sends and receives blocks that are buffers of their own, each with its address, datatype and layout: the faces of a
/// grid are layouts of one array, and nothing is packed by hand. Shape: a buffer for each destination, and one for each
/// source. Packs a block with a layout into scratch memory of its size, and what a rank sends to itself at most once.
/// Counterpart: MPI_Neighbor_alltoallw.
TUTTI_EXPORT void neighbor_alltoallw(const Communicator& comm, std::span<const ConstBuffer> send,
                                     std::span<const Buffer> recv, const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request ineighbor_alltoallw(const Communicator& comm, std::span<const ConstBuffer> send,
                                                       std::span<const Buffer> recv, const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request neighbor_alltoallw_init(const Communicator& comm, std::span<const ConstBuffer> send,
                                                           std::span<const Buffer> recv, const Options& options = {});

/// Refuse temporary buffers, whose memory would be gone before the operation is done, when they are compiled.
TUTTI_REFUSE_TEMPORARIES(ineighbor_allgather)
TUTTI_REFUSE_TEMPORARIES(neighbor_allgather_init)
TUTTI_REFUSE_TEMPORARIES(ineighbor_allgatherv)
TUTTI_REFUSE_TEMPORARIES(neighbor_allgatherv_init)
TUTTI_REFUSE_TEMPORARIES(ineighbor_alltoall)
TUTTI_REFUSE_TEMPORARIES(neighbor_alltoall_init)
TUTTI_REFUSE_TEMPORARIES_BESIDE_COUNTS(ineighbor_alltoallv)
TUTTI_REFUSE_TEMPORARIES_BESIDE_COUNTS(neighbor_alltoallv_init)

}  // namespace tutti
