// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/steps.hpp"

#include <algorithm>
#include <tutti/point_to_point.hpp>
#include <utility>

#include "core/mpi_call.hpp"

namespace tutti::detail {
namespace {

using schedules::Neighborhood;

Neighborhood of_grid(MPI_Comm comm) {
  int dimensions = 0;
  check_mpi(MPI_Cartdim_get(comm, &dimensions), "MPI_Cartdim_get");
  Neighborhood edges;
  edges.is_grid = true;
  for (int d = 0; d < dimensions; ++d) {
    int below = MPI_PROC_NULL;
    int above = MPI_PROC_NULL;
    check_mpi(MPI_Cart_shift(comm, d, 1, &below, &above), "MPI_Cart_shift");
    edges.sources.insert(edges.sources.end(), {below, above});
  }
  edges.destinations = edges.sources;
  return edges;
}

Neighborhood of_graph(MPI_Comm comm, int rank) {
  int degree = 0;
  check_mpi(MPI_Graph_neighbors_count(comm, rank, &degree), "MPI_Graph_neighbors_count");
  Neighborhood edges;
  edges.sources.resize(static_cast<std::size_t>(degree));
  check_mpi(MPI_Graph_neighbors(comm, rank, degree, edges.sources.data()), "MPI_Graph_neighbors");
  edges.destinations = edges.sources;
  return edges;
}

Neighborhood of_distributed_graph(MPI_Comm comm) {
  int sources = 0;
  int destinations = 0;
  int is_weighted = 0;
  check_mpi(MPI_Dist_graph_neighbors_count(comm, &sources, &destinations, &is_weighted),
            "MPI_Dist_graph_neighbors_count");
  Neighborhood edges;
  edges.sources.resize(static_cast<std::size_t>(sources));
  edges.destinations.resize(static_cast<std::size_t>(destinations));
  // MPI writes the weights, though nobody wants them. MPI_UNWEIGHTED is no constant where the MPI's calls are renamed.
  std::vector<int> source_weights(edges.sources.size() + 1);
  std::vector<int> destination_weights(edges.destinations.size() + 1);
  check_mpi(MPI_Dist_graph_neighbors(comm, sources, edges.sources.data(), source_weights.data(), destinations,
                                     edges.destinations.data(), destination_weights.data()),
            "MPI_Dist_graph_neighbors");
  return edges;
}

}  // namespace

std::unique_ptr<const Neighbors> read_neighbors(MPI_Comm comm, int rank) {
  int kind = MPI_UNDEFINED;
  check_mpi(MPI_Topo_test(comm, &kind), "MPI_Topo_test");
  if (kind == MPI_UNDEFINED) return nullptr;
  Neighborhood edges = kind == MPI_CART    ? of_grid(comm)
                       : kind == MPI_GRAPH ? of_graph(comm, rank)
                                           : of_distributed_graph(comm);
  for (std::vector<int>* side : {&edges.sources, &edges.destinations})
    std::replace(side->begin(), side->end(), int{MPI_PROC_NULL}, proc_null);
  return std::make_unique<const Neighbors>(std::move(edges), rank);
}

}  // namespace tutti::detail
