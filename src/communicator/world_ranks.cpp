// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/world_ranks.hpp"

#include <algorithm>
#include <numeric>

#include "communicator/group.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {

std::vector<int> world_ranks(MPI_Comm comm) {
  if (!world_is_usable()) return {};
  const Group group(comm);
  const Group world(MPI_COMM_WORLD);
  int size = 0;
  check_mpi(MPI_Group_size(group.get(), &size), "MPI_Group_size");
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> in_world(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  check_mpi(MPI_Group_translate_ranks(group.get(), size, ranks.data(), world.get(), in_world.data()),
            "MPI_Group_translate_ranks");
  if (std::find(in_world.begin(), in_world.end(), MPI_UNDEFINED) != in_world.end()) in_world.clear();
  return in_world;
}

}  // namespace tutti::detail
