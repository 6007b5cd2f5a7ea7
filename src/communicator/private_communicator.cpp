// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/private_communicator.hpp"

#include <fmt/format.h>

#include <vector>

#include "call/late_communicator.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {
namespace {

constexpr const char* purpose = "point-to-point messages";

class Group {
 public:
  explicit Group(MPI_Comm comm) { check_mpi(MPI_Comm_group(comm, &group_), "MPI_Comm_group"); }
  ~Group() { MPI_Group_free(&group_); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  [[nodiscard]] MPI_Group get() const { return group_; }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

// Open MPI 5 has the function too, but asks its runtime's server for every communicator, which takes milliseconds.
#if MPI_VERSION >= 4 && defined(MPICH_VERSION)

/// MPICH makes communicators of groups out of MPI_COMM_WORLD, so processes that were spawned are not in them.
bool is_part_of_world(MPI_Group group) {
  if (!world_is_usable()) return true;
  int size = 0;
  MPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> in_world(ranks.size());
  for (int r = 0; r < size; ++r) ranks[static_cast<std::size_t>(r)] = r;
  const Group world(MPI_COMM_WORLD);
  MPI_Group_translate_ranks(group, size, ranks.data(), world.get(), in_world.data());
  for (const int rank : in_world)
    if (rank == MPI_UNDEFINED) return false;
  return true;
}

bool make_of_group(MPI_Group group, std::uint64_t mark, MPI_Comm& made) {
  if (!is_part_of_world(group)) return false;
  const auto name = fmt::format("tutti {:016x}", mark);
  const int code = MPI_Comm_create_from_group(group, name.c_str(), MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
  if (code != MPI_SUCCESS) throw_no_communicator(purpose, mpi_text(code));
  return true;
}

#else

bool make_of_group(MPI_Group /*group*/, std::uint64_t /*mark*/, MPI_Comm& /*made*/) { return false; }

#endif

}  // namespace

MPI_Comm make_private(MPI_Comm comm, std::uint64_t mark) {
  const Group group(comm);
  MPI_Comm made = MPI_COMM_NULL;
  if (!make_of_group(group.get(), mark, made)) {
    const int code = MPI_Comm_create(comm, group.get(), &made);
    if (code != MPI_SUCCESS) throw_no_communicator(purpose, mpi_text(code));
  }
  // MPICH 4.0.2 reports no error if it has no context left.
  if (made == MPI_COMM_NULL) throw_no_communicator(purpose, "it made none");
  check_mpi(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return made;
}

}  // namespace tutti::detail
