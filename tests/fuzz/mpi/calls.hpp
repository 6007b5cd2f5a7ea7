// SPDX-License-Identifier: BSD-3-Clause
// Each collective of MPI, called by its own name, which libtutti-mpi serves, or by its PMPI_ name, which it does not.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "preload/forms.hpp"

namespace tutti::fuzz::mpi {

using test::Form;

enum class Operation : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_alltoallw,
};
inline constexpr std::size_t operations = 22;

[[nodiscard]] const char* name(Operation operation);
[[nodiscard]] inline bool combines(Operation operation) {
  return operation >= Operation::reduce && operation <= Operation::exscan;
}
[[nodiscard]] inline bool has_root(Operation operation) {
  return operation == Operation::bcast || operation == Operation::reduce ||
         (operation >= Operation::gather && operation <= Operation::scatterv);
}
[[nodiscard]] inline bool is_of_neighbors(Operation operation) { return operation >= Operation::neighbor_allgather; }

/// One side of a call as the program gives it, for both kinds of counts.
struct Side {
  void* address = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<int> counts, places;
  std::vector<MPI_Count> large_counts;
  std::vector<MPI_Aint> large_places;  ///< in the same units; those of MPI_Neighbor_alltoallw too
  std::vector<MPI_Datatype> types;
};

struct Arguments {
  Side send, recv;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// Makes the call. A nonblocking one is started, a persistent one made only.
void make(Operation operation, Form form, bool has_large_counts, const Arguments& arguments, MPI_Request* request);

/// Makes the blocking call past all libraries, by the MPI itself.
void make_by_mpi(Operation operation, const Arguments& arguments);

}  // namespace tutti::fuzz::mpi
