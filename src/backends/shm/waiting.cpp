// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/waiting.hpp"

#include <fmt/format.h>

#include <tutti/error.hpp>

#include "core/mpi_call.hpp"
#include "core/progress_hook.hpp"

namespace tutti::detail::shm {

void throw_failure(const Arena& arena, Context& context, const std::string& who) {
  context.check_peers(who);
  const Head& head = arena.head();
  const auto code = static_cast<ErrorCode>(head.code);
  if (code == ErrorCode::aborted)
    throw Error(code, fmt::format("{}, {}: aborted by rank {}: {}", who, context.describe(), head.rank, head.reason));
  throw Error(code, fmt::format("{}, {}: rank {} has failed and takes part no more: {}", who, context.describe(),
                                head.rank, head.reason));
}

void look_into_mpi(const Context& context) {
  if (progress_hook::is_inside()) return;
  int found = 0;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, context.point_to_point, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

}  // namespace tutti::detail::shm
