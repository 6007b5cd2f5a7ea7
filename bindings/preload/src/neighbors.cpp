// SPDX-License-Identifier: BSD-3-Clause
#include "member.hpp"

#include <algorithm>

namespace tutti::preload {
namespace {

Neighbors of_grid(MPI_Comm comm) {
  int dimensions = 0;
  PMPI_Cartdim_get(comm, &dimensions);
  Neighbors found;
  for (int d = 0; d < dimensions; ++d) {
    int below = MPI_PROC_NULL;
    int above = MPI_PROC_NULL;
    PMPI_Cart_shift(comm, d, 1, &below, &above);
    found.sources.push_back(below != MPI_PROC_NULL);
    found.sources.push_back(above != MPI_PROC_NULL);
  }
  found.destinations = found.sources;
  return found;
}

Neighbors of_graph(MPI_Comm comm, int rank) {
  int degree = 0;
  PMPI_Graph_neighbors_count(comm, rank, &degree);
  const std::vector<bool> all(static_cast<std::size_t>(degree), true);
  return {all, all};
}

std::vector<bool> existing(const std::vector<int>& ranks) {
  std::vector<bool> all(ranks.size());
  std::transform(ranks.begin(), ranks.end(), all.begin(), [](int rank) { return rank != MPI_PROC_NULL; });
  return all;
}

Neighbors of_distributed_graph(MPI_Comm comm) {
  int sources = 0;
  int destinations = 0;
  int is_weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &sources, &destinations, &is_weighted);
  std::vector<int> from(static_cast<std::size_t>(sources));
  std::vector<int> to(static_cast<std::size_t>(destinations));
  std::vector<int> from_weights(from.size() + 1);
  std::vector<int> to_weights(to.size() + 1);
  PMPI_Dist_graph_neighbors(comm, sources, from.data(), from_weights.data(), destinations, to.data(),
                            to_weights.data());
  return {existing(from), existing(to)};
}

}  // namespace

std::optional<Neighbors> neighbors_of(MPI_Comm comm, int rank) {
  int kind = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) return of_grid(comm);
  if (kind == MPI_GRAPH) return of_graph(comm, rank);
  if (kind == MPI_DIST_GRAPH) return of_distributed_graph(comm);
  return std::nullopt;
}

}  // namespace tutti::preload
