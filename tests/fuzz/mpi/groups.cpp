// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/mpi/groups.hpp"

#include <array>

#include "preload/world.hpp"

namespace tutti::fuzz::mpi {
namespace {

constexpr std::array<const char*, kinds> kind_names{"duplicate", "part",  "reversed",
                                                    "grid",      "graph", "intercommunicator"};

int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}
int size_of(MPI_Comm comm) {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  return size;
}

bool has_edge(std::uint64_t seed, int from, int to) {
  return mix({seed, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to)}) % 2 == 0;
}

}  // namespace

const char* name(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

Group::Group(const GroupPlan& plan, MPI_Comm world) : kind_(plan.kind) {
  Random random(plan.seed);
  const int rank = rank_in(world), size = size_of(world);
  switch (kind_) {
    case Kind::duplicate:
      MPI_Comm_dup(world, &comm_);
      break;
    case Kind::part:
      split(random.below(size + 1) != rank || size == 1, 0, world);
      break;
    case Kind::reversed:
      split(true, -rank, world);
      break;
    case Kind::grid:
      make_grid(random, world);
      break;
    case Kind::graph:
      make_graph(random, world);
      break;
    case Kind::intercommunicator:
      make_intercommunicator(random, world);
      break;
  }
  leave_if_alone();
  if (!is_member()) return;
  rank_ = rank_in(comm_);
  size_ = size_of(comm_);
  PMPI_Comm_dup(comm_, &of_mpi_);
  if (is_inter()) PMPI_Comm_remote_size(comm_, &size_);
  peers_.resize(static_cast<std::size_t>(size_));
  PMPI_Allgather(&rank, 1, MPI_INT, peers_.data(), 1, MPI_INT, of_mpi_);
  for (std::vector<int>* neighbors : {&sources_, &destinations_})
    for (int& neighbor : *neighbors)
      if (neighbor != MPI_PROC_NULL) neighbor = peers_[static_cast<std::size_t>(neighbor)];
  // Calls of a communicator without a side are the MPI's, which is to be tried too.
  has_side_ = test::is_library_loaded() && !is_inter() && random.once_in(2);
  if (has_side_) test::make_side(comm_);
}

/// All calls of one rank are the MPI's, and MPICH 4.0.2 has wrong ones among them: MPI_Allgatherv forgets
/// displacements, inactive persistent requests count as active.
void Group::leave_if_alone() {
  if (is_member() && !is_inter() && size_of(comm_) == 1) MPI_Comm_free(&comm_);
}

Group::~Group() {
  if (!is_member()) return;
  PMPI_Comm_free(&of_mpi_);
  MPI_Comm_free(&comm_);
}

void Group::split(bool is_in, int key, MPI_Comm world) {
  MPI_Comm_split(world, is_in ? 0 : MPI_UNDEFINED, key, &comm_);
}

// Neither grids nor graphs have repeated neighbours, whose blocks meet in an order that differs between MPIs before
// MPI 4.1.
void Group::make_grid(Random random, MPI_Comm world) {
  const int dimensions = 1 + random.below(2);
  std::array<int, 2> sizes{};
  std::array<int, 2> is_periodic{};
  MPI_Dims_create(size_of(world), dimensions, sizes.data());
  for (std::size_t d = 0; d < 2; ++d) is_periodic[d] = sizes[d] > 2 && random.once_in(2) ? 1 : 0;
  MPI_Cart_create(world, dimensions, sizes.data(), is_periodic.data(), random.below(2), &comm_);
  for (int d = 0; d < dimensions; ++d) {
    std::array<int, 2> sides{};
    MPI_Cart_shift(comm_, d, 1, &sides[0], &sides[1]);
    for (std::vector<int>* neighbors : {&sources_, &destinations_})
      neighbors->insert(neighbors->end(), sides.begin(), sides.end());
  }
}

void Group::make_graph(Random random, MPI_Comm world) {
  const std::uint64_t seed = random.bits();
  const int rank = rank_in(world), size = size_of(world);
  for (int other = 0; other < size; ++other) {
    if (has_edge(seed, other, rank)) sources_.push_back(other);
    if (has_edge(seed, rank, other)) destinations_.push_back(other);
  }
  MPI_Dist_graph_create_adjacent(world, static_cast<int>(sources_.size()), sources_.data(), MPI_UNWEIGHTED,
                                 static_cast<int>(destinations_.size()), destinations_.data(), MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &comm_);
}

void Group::make_intercommunicator(Random random, MPI_Comm world) {
  const int size = size_of(world);
  if (size == 1) {  // has no second group
    kind_ = Kind::duplicate;
    MPI_Comm_dup(world, &comm_);
    return;
  }
  const int border = 1 + random.below(size - 1);
  is_first_ = rank_in(world) < border;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(world, is_first_ ? 0 : 1, 0, &part);
  MPI_Intercomm_create(part, 0, world, is_first_ ? border : 0, 7, &comm_);
  MPI_Comm_free(&part);
}

}  // namespace tutti::fuzz::mpi
