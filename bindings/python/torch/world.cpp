// SPDX-License-Identifier: BSD-3-Clause
#include "world.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdint>

namespace tutti::process_group {

void check_threads() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  TORCH_CHECK(level == MPI_THREAD_MULTIPLE,
              "tutti: MPI was initialised without MPI_THREAD_MULTIPLE, which the process groups' threads need; import "
              "tutti.torch before anything else initialises MPI, or ask for that level there");
}

void check_world(int rank, int size) {
  int mpi_rank = 0;
  int mpi_size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &mpi_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &mpi_size);
  TORCH_CHECK(size == 1 || mpi_size > 1, "tutti: PyTorch's job has ", size,
              " processes, but MPI has started this one alone: start the program by mpiexec -n ", size, " or srun -n ",
              size, ", which also set rank and world_size, or by torchrun with import tutti.torch at its top");
  TORCH_CHECK(rank == mpi_rank && size == mpi_size, "tutti: PyTorch's rank ", rank, " of ", size, " is MPI's rank ",
              mpi_rank, " of ", mpi_size,
              "; pass the same to init_process_group, or leave rank and world_size out after import tutti.torch");
}

namespace {

int tag_of(const std::string& name) {
  constexpr std::uint32_t smallest_upper_bound = 32767;
  std::uint32_t hash = 2166136261U;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
  return static_cast<int>(hash % smallest_upper_bound);
}

}  // namespace

Subgroup::Subgroup(MPI_Comm parent, std::span<const int> ranks, const std::string& name) {
  int rank = 0;
  MPI_Comm_rank(parent, &rank);
  if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) return;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm_group(parent, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  const int code = MPI_Comm_create_group(parent, some, tag_of(name), &handle_);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  TORCH_CHECK(code == MPI_SUCCESS, "tutti: MPI_Comm_create_group failed for the process group ", name);
}

Subgroup::~Subgroup() {
  if (handle_ != MPI_COMM_NULL) MPI_Comm_free(&handle_);
}

}  // namespace tutti::process_group
