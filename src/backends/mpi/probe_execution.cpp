// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/probe_execution.hpp"

#include <tutti/point_to_point.hpp>

#include "backends/mpi/message.hpp"
#include "call/context.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {

std::optional<Status> probe_once(const Context& comm, const Wanted& wanted) {
  int found = 0;
  MPI_Status status{};
  check_mpi(MPI_Iprobe(wanted.source, wanted.tag, comm.point_to_point, &found, &status), "MPI_Iprobe");
  if (found == 0) return std::nullopt;
  if (wanted.source == MPI_PROC_NULL) return Status{proc_null, any_tag, 0};
  return Status{status.MPI_SOURCE, status.MPI_TAG, received_bytes(status) / wanted.unit};
}

bool ProbeExecution::step() {
  const std::optional<Status> found = probe_once(comm(), wanted_);
  if (found) status_ = *found;
  return found.has_value();
}

}  // namespace tutti::detail
