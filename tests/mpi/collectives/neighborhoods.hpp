// SPDX-License-Identifier: BSD-3-Clause
// Topologies of all kinds, which the tests of neighborhood collectives share.
#pragma once

#include <mpi.h>

#include <numeric>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

namespace tutti::test {

/// A topology as MPI has it and, said in another way, the block that comes from each source: block `block` of `rank`.
struct Origin {
  int rank = 0;
  std::size_t block = 0;
};
struct Place {
  std::string name;
  Communicator comm;
  std::size_t destinations = 0;
  std::vector<Origin> origins;  ///< one a source; rank proc_null: none

  [[nodiscard]] bool is_sent(std::size_t block) const { return neighborhood(comm).destinations[block] != proc_null; }
};

inline int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}
inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline Place grid(const std::vector<int>& sizes, const std::vector<int>& periods) {
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(sizes.size()), sizes.data(), periods.data(), 0, &cart);
  Place place{"grid", Communicator::adopt(cart), 2 * sizes.size(), {}};
  int stride = world_size();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    stride /= sizes[d];
    const int at = world_rank() / stride % sizes[d];
    for (const int by : {-1, 1}) {
      const int next = at + by;
      const bool is_there = periods[d] != 0 || (next >= 0 && next < sizes[d]);
      const int from = world_rank() + ((next + sizes[d]) % sizes[d] - at) * stride;
      // What comes from below was sent up: the other block of the dimension.
      place.origins.push_back({is_there ? from : proc_null, 2 * d + (by < 0 ? 1 : 0)});
    }
    place.name += " " + std::to_string(sizes[d]) + (periods[d] != 0 ? " periodic" : "");
  }
  return place;
}

/// Every rank sends to its right neighbour twice, to itself in between, and to its left one.
inline std::vector<int> ring_from(int rank) {
  const int n = world_size();
  return {(rank + 1) % n, rank, (rank + 1) % n, (rank + n - 1) % n};
}

/// The blocks for this rank, of one rank after the other, each rank's in the order of its destinations.
inline std::vector<Origin> ring_to(int rank) {
  std::vector<Origin> all;
  for (int from = world_size() - 1; from >= 0; --from) {
    const std::vector<int> to = ring_from(from);
    for (std::size_t i = 0; i < to.size(); ++i)
      if (to[i] == rank) all.push_back({from, i});
  }
  return all;
}

inline Place distributed_graph(bool is_weighted) {
  const std::vector<int> to = ring_from(world_rank());
  Place place{is_weighted ? "weighted graph" : "distributed graph", {}, to.size(), ring_to(world_rank())};
  std::vector<int> from;
  for (const Origin& origin : place.origins) from.push_back(origin.rank);
  const std::vector<int> weights(8, 3);
  const int* const given = is_weighted ? weights.data() : MPI_UNWEIGHTED;
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(from.size()), from.data(), given,
                                 static_cast<int>(to.size()), to.data(), given, MPI_INFO_NULL, 0, &graph);
  place.comm = Communicator::adopt(graph);
  return place;
}

/// A star: rank 0 and all others.
inline Place star() {
  const int others = world_size() - 1;
  std::vector<int> index;
  std::vector<int> edges(static_cast<std::size_t>(others));
  std::iota(edges.begin(), edges.end(), 1);
  for (int r = 0; r <= others; ++r) index.push_back(others + r);
  edges.resize(static_cast<std::size_t>(2 * others), 0);
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Graph_create(MPI_COMM_WORLD, others + 1, index.data(), edges.data(), 0, &graph);
  Place place{"star", Communicator::adopt(graph), world_rank() == 0 ? static_cast<std::size_t>(others) : 1, {}};
  if (world_rank() != 0) place.origins.push_back({0, static_cast<std::size_t>(world_rank() - 1)});
  for (int r = 1; world_rank() == 0 && r <= others; ++r) place.origins.push_back({r, 0});
  return place;
}

/// No edges at all on odd ranks, and on even ones an edge to themselves.
inline Place lonely() {
  const bool has_edge = world_rank() % 2 == 0;
  const int self = world_rank();
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, has_edge ? 1 : 0, &self, MPI_UNWEIGHTED, has_edge ? 1 : 0, &self,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  Place place{"lonely", Communicator::adopt(graph), has_edge ? std::size_t{1} : 0, {}};
  if (has_edge) place.origins.push_back({self, 0});
  return place;
}

inline const std::vector<Place>& places() {
  static const std::vector<Place> all = [] {
    std::vector<Place> made;
    const int n = world_size();
    made.push_back(grid({n}, {0}));
    made.push_back(grid({n}, {1}));
    made.push_back(grid({1, n}, {1, 1}));
    made.push_back(n == 4 ? grid({2, 1, 2}, {1, 1, 0}) : grid({n, 1, 1}, {1, 0, 1}));
    made.push_back(distributed_graph(false));
    made.push_back(distributed_graph(true));
    if (n > 1) made.push_back(star());
    made.push_back(lonely());
    return made;
  }();
  return all;
}

}  // namespace tutti::test
