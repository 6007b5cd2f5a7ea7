// SPDX-License-Identifier: BSD-3-Clause
// A nonblocking call cannot make the library's side of a communicator, because that waits for the other ranks. The side
// is there before where the program waits for all ranks anyway: when MPI begins, and when a communicator is made.
#pragma once

#include <mpi.h>

#include "watch/call.hpp"

namespace tutti::preload {

/// After MPI has begun: follows the program's calls if that is wanted, and makes the library's side of MPI_COMM_WORLD.
/// Collective over it. Returns the MPI's code of a failure, which the error handler has had.
int begin();

/// Makes the library's side of a communicator where it costs little, because the same ranks have another one.
/// Collective over `made`, which is new; `from` is what it was made from.
void set_up_early(MPI_Comm from, MPI_Comm made);

/// Makes a communicator by a factory of the MPI that is collective over `from`.
template <typename Pass>
int make_communicator(const char* name, MPI_Comm from, MPI_Comm* made, const Pass& pass) {
  const int code = watch_factory(name, from, made, pass);
  if (code == MPI_SUCCESS && made != nullptr) set_up_early(from, *made);
  return code;
}

}  // namespace tutti::preload
