// SPDX-License-Identifier: BSD-3-Clause
#include "device/give_way.hpp"

#include <mpi.h>
#include <sched.h>

#include <tutti/environment.hpp>

#include "core/mpi_call.hpp"
#include "device/beside_captures.hpp"

namespace tutti::detail::device {

void give_way() {
  const BesideCaptures beside;  // the MPI may use the device
  progress();
  int found = 0;
  if (mpi_is_usable())
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
  sched_yield();
}

}  // namespace tutti::detail::device
