// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/steps.hpp"

#include <fmt/format.h>

#include "call/late_communicator.hpp"
#include "communicator/group.hpp"
#include "core/host_mpi.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {
namespace {

constexpr const char* purpose = "point-to-point messages";

// Open MPI 5 has the function too, but asks its runtime's server for every communicator, which takes milliseconds.
#if MPI_VERSION >= 4

/// MPICH makes communicators of groups out of MPI_COMM_WORLD, so processes that were spawned are not in them.
bool make_of_group(MPI_Comm comm, MPI_Group group, std::uint64_t mark, MPI_Comm& made) {
  if (!host_is_mpich()) return false;
  if (world_is_usable() && world_ranks(comm).empty()) return false;
  const auto name = fmt::format("tutti {:016x}", mark);
  const int code = MPI_Comm_create_from_group(group, name.c_str(), MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
  if (code != MPI_SUCCESS) throw_no_communicator(purpose, mpi_text(code));
  return true;
}

#else

bool make_of_group(MPI_Comm /*comm*/, MPI_Group /*group*/, std::uint64_t /*mark*/, MPI_Comm& /*made*/) { return false; }

#endif

}  // namespace

MPI_Comm make_private(MPI_Comm comm, std::uint64_t mark) {
  const Group group(comm);
  MPI_Comm made = MPI_COMM_NULL;
  if (!make_of_group(comm, group.get(), mark, made)) {
    const int code = MPI_Comm_create(comm, group.get(), &made);
    if (code != MPI_SUCCESS) throw_no_communicator(purpose, mpi_text(code));
  }
  // MPICH 4.0.2 reports no error if it has no context left.
  if (made == MPI_COMM_NULL) throw_no_communicator(purpose, "it made none");
  check_mpi(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return made;
}

}  // namespace tutti::detail
