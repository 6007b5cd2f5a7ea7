// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/mpi/calls.hpp"

#include <array>

namespace tutti::fuzz::mpi {
namespace {

constexpr std::array<const char*, operations> operation_names{"MPI_Barrier",
                                                              "MPI_Bcast",
                                                              "MPI_Reduce",
                                                              "MPI_Allreduce",
                                                              "MPI_Reduce_scatter",
                                                              "MPI_Reduce_scatter_block",
                                                              "MPI_Scan",
                                                              "MPI_Exscan",
                                                              "MPI_Gather",
                                                              "MPI_Gatherv",
                                                              "MPI_Scatter",
                                                              "MPI_Scatterv",
                                                              "MPI_Allgather",
                                                              "MPI_Allgatherv",
                                                              "MPI_Alltoall",
                                                              "MPI_Alltoallv",
                                                              "MPI_Alltoallw",
                                                              "MPI_Neighbor_allgather",
                                                              "MPI_Neighbor_allgatherv",
                                                              "MPI_Neighbor_alltoall",
                                                              "MPI_Neighbor_alltoallv",
                                                              "MPI_Neighbor_alltoallw"};

/// The numbers of a side as the functions with int take them, and those with large counts.
struct Small {
  static int count(const Side& side) { return static_cast<int>(side.count); }
  static const int* counts(const Side& side) { return side.counts.data(); }
  static const int* places(const Side& side) { return side.places.data(); }
};
struct Large {
  static MPI_Count count(const Side& side) { return side.count; }
  static const MPI_Count* counts(const Side& side) { return side.large_counts.data(); }
  static const MPI_Aint* places(const Side& side) { return side.large_places.data(); }
};

}  // namespace

// Arguments by kind, of the sides `s` and `r`, for numbers of kind N.
#define ONE(N, side) side.address, N::count(side), side.type
#define MANY(N, side) side.address, N::counts(side), N::places(side), side.type
#define EACH(N, side) side.address, N::counts(side), N::places(side), side.types.data()
#define EACH_BY_ADDRESS(N, side) side.address, N::counts(side), side.large_places.data(), side.types.data()
/// CALL(Bcast, bcast, arguments before the communicator) for all collectives that take counts.
#define TUTTI_FUZZ_CALLS(CALL, N)                                                                     \
  CALL(Bcast, bcast, ONE(N, r), all.root)                                                             \
  CALL(Reduce, reduce, s.address, r.address, N::count(s), s.type, all.op, all.root)                   \
  CALL(Allreduce, allreduce, s.address, r.address, N::count(s), s.type, all.op)                       \
  CALL(Reduce_scatter, reduce_scatter, s.address, r.address, N::counts(r), s.type, all.op)            \
  CALL(Reduce_scatter_block, reduce_scatter_block, s.address, r.address, N::count(r), s.type, all.op) \
  CALL(Scan, scan, s.address, r.address, N::count(s), s.type, all.op)                                 \
  CALL(Exscan, exscan, s.address, r.address, N::count(s), s.type, all.op)                             \
  CALL(Gather, gather, ONE(N, s), ONE(N, r), all.root)                                                \
  CALL(Gatherv, gatherv, ONE(N, s), MANY(N, r), all.root)                                             \
  CALL(Scatter, scatter, ONE(N, s), ONE(N, r), all.root)                                              \
  CALL(Scatterv, scatterv, MANY(N, s), ONE(N, r), all.root)                                           \
  CALL(Allgather, allgather, ONE(N, s), ONE(N, r))                                                    \
  CALL(Allgatherv, allgatherv, ONE(N, s), MANY(N, r))                                                 \
  CALL(Alltoall, alltoall, ONE(N, s), ONE(N, r))                                                      \
  CALL(Alltoallv, alltoallv, MANY(N, s), MANY(N, r))                                                  \
  CALL(Alltoallw, alltoallw, EACH(N, s), EACH(N, r))                                                  \
  CALL(Neighbor_allgather, neighbor_allgather, ONE(N, s), ONE(N, r))                                  \
  CALL(Neighbor_allgatherv, neighbor_allgatherv, ONE(N, s), MANY(N, r))                               \
  CALL(Neighbor_alltoall, neighbor_alltoall, ONE(N, s), ONE(N, r))                                    \
  CALL(Neighbor_alltoallv, neighbor_alltoallv, MANY(N, s), MANY(N, r))                                \
  CALL(Neighbor_alltoallw, neighbor_alltoallw, EACH_BY_ADDRESS(N, s), EACH_BY_ADDRESS(N, r))

#if TUTTI_TEST_HAS_PERSISTENT
#define INIT(Name, ...) MPI_##Name(__VA_ARGS__, MPI_INFO_NULL, request)
#else
#define INIT(Name, ...) static_cast<void>(request)
#endif
#define FORMS(Name, lower, Suffix, ...)                                                  \
  case Operation::lower:                                                                 \
    if (form == Form::blocking) MPI_##Name##Suffix(__VA_ARGS__, all.comm);               \
    if (form == Form::nonblocking) MPI_I##lower##Suffix(__VA_ARGS__, all.comm, request); \
    if (form == Form::persistent) INIT(Name##_init##Suffix, __VA_ARGS__, all.comm);      \
    return;
#define SMALL(Name, lower, ...) FORMS(Name, lower, , __VA_ARGS__)
#define LARGE(Name, lower, ...) FORMS(Name, lower, _c, __VA_ARGS__)
#define BY_MPI(Name, lower, ...)        \
  case Operation::lower:                \
    PMPI_##Name(__VA_ARGS__, all.comm); \
    return;

namespace {

void make_barrier(Form form, MPI_Comm comm, MPI_Request* request) {
  if (form == Form::blocking) MPI_Barrier(comm);
  if (form == Form::nonblocking) MPI_Ibarrier(comm, request);
  if (form == Form::persistent) INIT(Barrier_init, comm);
}

void make_small(Operation operation, Form form, const Arguments& all, MPI_Request* request) {
  const Side& s = all.send;
  const Side& r = all.recv;
  switch (operation) {
    case Operation::barrier:
      return make_barrier(form, all.comm, request);
      TUTTI_FUZZ_CALLS(SMALL, Small)
  }
}

#if MPI_VERSION >= 4
void make_large(Operation operation, Form form, const Arguments& all, MPI_Request* request) {
  const Side& s = all.send;
  const Side& r = all.recv;
  switch (operation) {
    case Operation::barrier:
      return make_barrier(form, all.comm, request);
      TUTTI_FUZZ_CALLS(LARGE, Large)
  }
}
#endif

}  // namespace

void make(Operation operation, Form form, [[maybe_unused]] bool has_large_counts, const Arguments& arguments,
          MPI_Request* request) {
#if MPI_VERSION >= 4
  if (has_large_counts) return make_large(operation, form, arguments, request);
#endif
  make_small(operation, form, arguments, request);
}

void make_by_mpi(Operation operation, const Arguments& all) {
  const Side& s = all.send;
  const Side& r = all.recv;
  switch (operation) {
    case Operation::barrier:
      PMPI_Barrier(all.comm);
      return;
      TUTTI_FUZZ_CALLS(BY_MPI, Small)
  }
}

const char* name(Operation operation) { return operation_names[static_cast<std::size_t>(operation)]; }

}  // namespace tutti::fuzz::mpi
