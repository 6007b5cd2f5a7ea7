// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <numeric>

#include "communicator/group.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {

std::vector<int> world_ranks(MPI_Comm comm) {
  if (!world_is_usable()) return {};
  return ranks_in(MPI_COMM_WORLD, comm);
}

std::vector<int> ranks_in(MPI_Comm whole, MPI_Comm part) {
  const Group group(part);
  const Group all(whole);
  int size = 0;
  check_mpi(MPI_Group_size(group.get(), &size), "MPI_Group_size");
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> found(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  check_mpi(MPI_Group_translate_ranks(group.get(), size, ranks.data(), all.get(), found.data()),
            "MPI_Group_translate_ranks");
  if (std::find(found.begin(), found.end(), MPI_UNDEFINED) != found.end()) found.clear();
  return found;
}

}  // namespace tutti::detail
