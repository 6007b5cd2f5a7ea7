// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/processes.hpp"

#include <algorithm>

namespace tutti::fuzz {
namespace {

Communicator make_communicator(const Communicator& world, const Group& group, bool by_split) {
  const auto at = std::find(group.ranks.begin(), group.ranks.end(), world.rank());
  const bool is_in = at != group.ranks.end();
  const int key = static_cast<int>(at - group.ranks.begin());
  if (by_split && !group.reproducible) return world.split(is_in ? 0 : MPI_UNDEFINED, key);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(world.mpi_handle(), is_in ? 0 : MPI_UNDEFINED, key, &part);
  if (!is_in) return {};
  CommunicatorOptions options;
  options.reproducible = group.reproducible;
  options.name = "fuzz";
  return Communicator::adopt(part, options);
}

}  // namespace

Member Processes::make_member(const Program& program, std::size_t group) {
  Member member;
  member.comm = make_communicator(all_, program.groups[group], mix({program.seed, group, 5}) % 2 == 0);
  member.size = program.groups[group].ranks.size();
  member.reproducible = program.groups[group].reproducible;
  if (!member.comm.valid()) return member;
  member.rank = static_cast<std::size_t>(member.comm.rank());
  if (mix({program.seed, group, 6}) % 3 == 0) member.memory = allocate(member.comm, std::size_t{1} << 19U);
  return member;
}

}  // namespace tutti::fuzz
