// SPDX-License-Identifier: BSD-3-Clause
#include "watch/overlap.hpp"

#include <fmt/format.h>

#include <string>
#include <tutti/error.hpp>

#include "diagnosis/site_text.hpp"
#include "errors.hpp"
#include "watch/requests.hpp"
#include "watch/watch.hpp"

namespace tutti::preload {
namespace {

int raise_overlap(MPI_Comm comm, const std::string& overlap) {
  if (overlap.empty()) return MPI_SUCCESS;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string text = fmt::format("rank {}: the call {} {}; complete the request of that call before", rank,
                                       tutti::detail::words_of(current_place()), overlap);
  return raise(comm, code_of(ErrorCode::invalid_argument, text));
}

}  // namespace

int check_overlap(MPI_Comm comm, const Spans& sent, const Spans& received) {
  return is_checked() ? raise_overlap(comm, watched_requests().overlap(sent, received)) : MPI_SUCCESS;
}

int start_watched(int count, const MPI_Request* requests) {
  if (!is_watched() || requests == nullptr) return MPI_SUCCESS;
  for (int i = 0; i < count; ++i)
    if (const int code = raise_overlap(MPI_COMM_WORLD, watched_requests().start(requests[i])); code != MPI_SUCCESS)
      return code;
  return MPI_SUCCESS;
}

}  // namespace tutti::preload
