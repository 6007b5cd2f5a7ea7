// SPDX-License-Identifier: BSD-3-Clause
// The collectives of C: one row each. The compiler compares every function with its declaration in tutti.h.
#include <tutti/collectives/allgather.hpp>
#include <tutti/collectives/allgatherv.hpp>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/alltoall.hpp>
#include <tutti/collectives/alltoallv.hpp>
#include <tutti/collectives/barrier.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/collectives/exscan.hpp>
#include <tutti/collectives/gather.hpp>
#include <tutti/collectives/gatherv.hpp>
#include <tutti/collectives/neighborhood.hpp>
#include <tutti/collectives/reduce.hpp>
#include <tutti/collectives/reduce_scatter.hpp>
#include <tutti/collectives/reduce_scatter_block.hpp>
#include <tutti/collectives/scan.hpp>
#include <tutti/collectives/scatter.hpp>
#include <tutti/collectives/scatterv.hpp>

#include <string>
#include <type_traits>
#include <vector>

#include "handles.hpp"

using namespace tutti::c;
using tutti::Communicator;

namespace {

using Numbers = std::span<const std::size_t>;

/// Elements of a buffer with a block of `count` elements for each rank.
std::size_t all_blocks(const Communicator& c, std::size_t count) {
  return blocks(count, static_cast<std::size_t>(c.size()));
}

/// Counts or displacements that mean something on the root only.
Numbers at_root(const Communicator& c, int root, const std::size_t* numbers) {
  return per_rank(c, c.rank() == root ? numbers : nullptr);
}

/// Counts or displacements of a send buffer, which mean nothing when it is TUTTI_IN_PLACE.
Numbers unless_in_place(const Communicator& c, const void* sendbuf, const std::size_t* numbers) {
  return per_rank(c, is_in_place(sendbuf) ? nullptr : numbers);
}

/// Elements that a rank receives in reduce_scatter; in place its buffer holds the whole vector.
std::size_t scattered(const Communicator& c, const void* sendbuf, Numbers counts) {
  if (is_in_place(sendbuf) || counts.empty()) return total(counts);
  return counts[static_cast<std::size_t>(c.rank())];
}

std::size_t sources(const Communicator& c) { return tutti::neighborhood(c).sources.size(); }
std::size_t destinations(const Communicator& c) { return tutti::neighborhood(c).destinations.size(); }

/// One number for each of n neighbours.
Numbers per_neighbor(std::size_t n, const std::size_t* numbers) { return {numbers, numbers == nullptr ? 0 : n}; }

/// The blocks of a side, made by make(address, count, datatype); displacements are in bytes. Nothing is looked up for
/// neighbours that do not exist.
template <typename AnyBuffer, typename Address, typename Make>
std::vector<AnyBuffer> each_block(Address address, std::span<const int> neighbors, const std::size_t* counts,
                                  const std::ptrdiff_t* displs, const tutti_datatype_t* types, const char* side,
                                  const Make& make) {
  using Byte = std::conditional_t<std::is_same_v<Address, void*>, std::byte, const std::byte>;
  const auto require = [&](const void* array, const char* word) {
    if (array == nullptr && !neighbors.empty())
      throw_null((std::string(side) + word).c_str(), "pass one number for each neighbour");
  };
  require(counts, "_counts");
  require(displs, "_displs");
  require(types, "_datatypes");
  std::vector<AnyBuffer> all(neighbors.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (neighbors[i] == TUTTI_PROC_NULL) continue;
    const bool is_whole = is_in_place(address) || (address == nullptr && displs[i] == 0);
    all[i] = make(is_whole ? address : static_cast<Byte*>(address) + displs[i], counts[i], types[i]);
  }
  return all;
}

std::vector<tutti::ConstBuffer> sent_blocks(const Communicator& c, const void* address, const std::size_t* counts,
                                            const std::ptrdiff_t* displs, const tutti_datatype_t* types) {
  return each_block<tutti::ConstBuffer>(address, tutti::neighborhood(c).destinations, counts, displs, types, "send",
                                        input);
}

std::vector<tutti::Buffer> received_blocks(const Communicator& c, void* address, const std::size_t* counts,
                                           const std::ptrdiff_t* displs, const tutti_datatype_t* types) {
  return each_block<tutti::Buffer>(address, tutti::neighborhood(c).sources, counts, displs, types, "recv",
                                   [](void* at, std::size_t n, tutti_datatype_t type) { return output(at, n, type); });
}

}  // namespace

#define TUTTI_PARAMETERS(...) __VA_OPT__(, ) __VA_ARGS__

/// Defines tutti_<word>, which calls tutti::<word>. It reads its arguments in this order: `first`, the communicator
/// `c`, all others. `parameters` are those between comm and options; the rest are the arguments of C++ between the same
/// two.
#define TUTTI_BLOCKING(word, first, parameters, ...)                                              \
  int tutti_##word(tutti_comm_t comm TUTTI_PARAMETERS parameters, const tutti_options_t* given) { \
    return guard([&] {                                                                            \
      first;                                                                                      \
      const Communicator& c = communicator(comm);                                                 \
      tutti::word(c, __VA_ARGS__ __VA_OPT__(, ) GivenOptions(given));                             \
    });                                                                                           \
  }

/// The same for a function that gives a request. The request is read after `first`, and keeps `record`.
#define TUTTI_WITH_REQUEST(word, first, record, parameters, ...)                                \
  int tutti_##word(tutti_comm_t comm TUTTI_PARAMETERS parameters, const tutti_options_t* given, \
                   tutti_request_t* request) {                                                  \
    return guard([&] {                                                                          \
      first;                                                                                    \
      start(request, record, [&] {                                                              \
        const Communicator& c = communicator(comm);                                             \
        return tutti::word(c, __VA_ARGS__ __VA_OPT__(, ) GivenOptions(given));                  \
      });                                                                                       \
    });                                                                                         \
  }

#define TUTTI_THREE_FORMS(word, first, record, parameters, ...)       \
  TUTTI_BLOCKING(word, first, parameters, __VA_ARGS__)                \
  TUTTI_WITH_REQUEST(i##word, first, record, parameters, __VA_ARGS__) \
  TUTTI_WITH_REQUEST(word##_init, first, record, parameters, __VA_ARGS__)

/// A collective that moves data, and one that combines them by `combination`.
#define TUTTI_MOVES(word, parameters, ...) TUTTI_THREE_FORMS(word, , OpReference(), parameters, __VA_ARGS__)
#define TUTTI_COMBINES(word, parameters, ...) \
  TUTTI_THREE_FORMS(word, const Operation combination = operation(op), combination.record, parameters, __VA_ARGS__)

TUTTI_MOVES(barrier, ())

TUTTI_MOVES(bcast, (void* buffer, size_t count, tutti_datatype_t datatype, int root),  //
            output(buffer, count, datatype), root)

TUTTI_MOVES(gather, (const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype, int root),
            input(sendbuf, count, datatype), output(recvbuf, all_blocks(c, count), datatype), root)

TUTTI_MOVES(gatherv,
            (const void* sendbuf, size_t send_count, void* recvbuf, const size_t* recv_counts,
             const size_t* recv_displs, tutti_datatype_t datatype, int root),
            input(sendbuf, send_count, datatype),
            output(recvbuf, extent(at_root(c, root, recv_counts), at_root(c, root, recv_displs)), datatype),
            at_root(c, root, recv_counts), at_root(c, root, recv_displs), root)

TUTTI_MOVES(scatter, (const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype, int root),
            input(sendbuf, all_blocks(c, count), datatype), output(recvbuf, count, datatype), root)

TUTTI_MOVES(scatterv,
            (const void* sendbuf, const size_t* send_counts, const size_t* send_displs, void* recvbuf,
             size_t recv_count, tutti_datatype_t datatype, int root),
            input(sendbuf, extent(at_root(c, root, send_counts), at_root(c, root, send_displs)), datatype),
            at_root(c, root, send_counts), at_root(c, root, send_displs), output(recvbuf, recv_count, datatype), root)

TUTTI_MOVES(allgather, (const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype),
            input(sendbuf, count, datatype), output(recvbuf, all_blocks(c, count), datatype))

TUTTI_MOVES(allgatherv,
            (const void* sendbuf, size_t send_count, void* recvbuf, const size_t* recv_counts,
             const size_t* recv_displs, tutti_datatype_t datatype),
            input(sendbuf, send_count, datatype),
            output(recvbuf, extent(per_rank(c, recv_counts), per_rank(c, recv_displs)), datatype),
            per_rank(c, recv_counts), per_rank(c, recv_displs))

TUTTI_MOVES(alltoall, (const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype),
            input(sendbuf, all_blocks(c, count), datatype), output(recvbuf, all_blocks(c, count), datatype))

TUTTI_MOVES(alltoallv,
            (const void* sendbuf, const size_t* send_counts, const size_t* send_displs, void* recvbuf,
             const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype),
            input(sendbuf, extent(unless_in_place(c, sendbuf, send_counts), unless_in_place(c, sendbuf, send_displs)),
                  datatype),
            unless_in_place(c, sendbuf, send_counts), unless_in_place(c, sendbuf, send_displs),
            output(recvbuf, extent(per_rank(c, recv_counts), per_rank(c, recv_displs)), datatype),
            per_rank(c, recv_counts), per_rank(c, recv_displs))

TUTTI_MOVES(neighbor_allgather, (const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype),
            input(sendbuf, count, datatype), output(recvbuf, blocks(count, sources(c)), datatype))

TUTTI_MOVES(neighbor_allgatherv,
            (const void* sendbuf, size_t send_count, void* recvbuf, const size_t* recv_counts,
             const size_t* recv_displs, tutti_datatype_t datatype),
            input(sendbuf, send_count, datatype),
            output(recvbuf, extent(per_neighbor(sources(c), recv_counts), per_neighbor(sources(c), recv_displs)),
                   datatype),
            per_neighbor(sources(c), recv_counts), per_neighbor(sources(c), recv_displs))

TUTTI_MOVES(neighbor_alltoall, (const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype),
            input(sendbuf, blocks(count, destinations(c)), datatype),
            output(recvbuf, blocks(count, sources(c)), datatype))

TUTTI_MOVES(neighbor_alltoallv,
            (const void* sendbuf, const size_t* send_counts, const size_t* send_displs, void* recvbuf,
             const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype),
            input(sendbuf,
                  extent(per_neighbor(destinations(c), send_counts), per_neighbor(destinations(c), send_displs)),
                  datatype),
            per_neighbor(destinations(c), send_counts), per_neighbor(destinations(c), send_displs),
            output(recvbuf, extent(per_neighbor(sources(c), recv_counts), per_neighbor(sources(c), recv_displs)),
                   datatype),
            per_neighbor(sources(c), recv_counts), per_neighbor(sources(c), recv_displs))

TUTTI_MOVES(neighbor_alltoallw,
            (const void* sendbuf, const size_t* send_counts, const ptrdiff_t* send_displs,
             const tutti_datatype_t* send_datatypes, void* recvbuf, const size_t* recv_counts,
             const ptrdiff_t* recv_displs, const tutti_datatype_t* recv_datatypes),
            sent_blocks(c, sendbuf, send_counts, send_displs, send_datatypes),
            received_blocks(c, recvbuf, recv_counts, recv_displs, recv_datatypes))

TUTTI_COMBINES(reduce,
               (const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype, tutti_op_t op, int root),
               input(sendbuf, count, datatype), output(recvbuf, count, datatype), combination.op, root)

TUTTI_COMBINES(allreduce, (const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype, tutti_op_t op),
               input(sendbuf, count, datatype), output(recvbuf, count, datatype), combination.op)

TUTTI_COMBINES(reduce_scatter,
               (const void* sendbuf, void* recvbuf, const size_t* recv_counts, tutti_datatype_t datatype,
                tutti_op_t op),
               input(sendbuf, total(per_rank(c, recv_counts)), datatype),
               output(recvbuf, scattered(c, sendbuf, per_rank(c, recv_counts)), datatype), per_rank(c, recv_counts),
               combination.op)

TUTTI_COMBINES(reduce_scatter_block,
               (const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype, tutti_op_t op),
               input(sendbuf, all_blocks(c, count), datatype),
               output(recvbuf, is_in_place(sendbuf) ? all_blocks(c, count) : count, datatype), combination.op)

TUTTI_COMBINES(scan, (const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype, tutti_op_t op),
               input(sendbuf, count, datatype), output(recvbuf, count, datatype), combination.op)

TUTTI_COMBINES(exscan, (const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype, tutti_op_t op),
               input(sendbuf, count, datatype), output(recvbuf, count, datatype), combination.op)
