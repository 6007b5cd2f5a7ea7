// SPDX-License-Identifier: BSD-3-Clause
#include "watch/completion.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <cstddef>
#include <map>
#include <string>
#include <tutti/error.hpp>

#include "diagnosis/site_text.hpp"
#include "errors.hpp"
#include "watch/comparison.hpp"
#include "watch/message_types.hpp"
#include "watch/requests.hpp"

namespace tutti::preload {
namespace {

/// Whether a wait returns soon. Requests of other functions, such as those of files, may need the MPI's own wait to
/// advance, so that nothing is waited for in their place.
bool are_complete(const std::vector<MPI_Request>& requests, Until until) {
  std::size_t active = 0;
  std::size_t complete = 0;
  for (const MPI_Request request : requests) {
    if (request == MPI_REQUEST_NULL) continue;
    ++active;
    complete += !watched_requests().knows(request) || is_complete(request) ? 1 : 0;
  }
  return until == Until::any ? active == 0 || complete != 0 : complete == active;
}

int raise_changed(const Completed& call) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string text = fmt::format(
      "rank {} has changed the {} buffer of the call {} before it has completed the request {}; leave a buffer alone "
      "until the request of its call is complete",
      rank, call.changed, tutti::detail::words_of(call.place), tutti::detail::words_of(current_place()));
  return raise(MPI_COMM_WORLD, code_of(ErrorCode::invalid_argument, text));
}

}  // namespace

int check_received(std::uint64_t receive, const MPI_Status& status) {
  const std::string difference = message_types().complete(receive, status);
  return difference.empty() ? MPI_SUCCESS : raise(MPI_COMM_WORLD, code_of(ErrorCode::mismatch, difference));
}

Completion::Completion(int count, const MPI_Request* requests, Until until) : before_(requests, requests + count) {
  if (until != Until::none)
    for (const MPI_Request request : before_) watched_requests().wait(request);
  if (check_level() == 0) return;
  watched_requests().end_freed();
  compare_until(until);
  look();
}

void Completion::compare_until(Until until) {
  code_ = compare();
  if (until == Until::none) return;
  while (code_ == MPI_SUCCESS && !are_complete(before_, until)) {
    sched_yield();
    code_ = compare();
  }
}

void Completion::look() {
  for (const MPI_Request request : before_) {
    int flag = 0;
    MPI_Status status;
    PMPI_Request_get_status(request, &flag, &status);
    statuses_.push_back(flag != 0 && request != MPI_REQUEST_NULL ? std::optional(status) : std::nullopt);
  }
}

int Completion::end(int code, const MPI_Request* requests) const {
  std::map<std::uint64_t, std::optional<MPI_Status>> received;  // in the order of their posts
  for (std::size_t i = 0; i < before_.size(); ++i) {
    const Completed completed = watched_requests().complete(before_[i], requests[i]);
    if (completed.receive != 0) received[completed.receive] = statuses_[i];
    if (completed.changed != nullptr && code == MPI_SUCCESS) code = raise_changed(completed);
  }
  for (const auto& [receive, status] : received) {
    if (!status)
      message_types().drop(receive);
    else if (const int found = check_received(receive, *status); found != MPI_SUCCESS)
      code = found;
  }
  return code;
}

}  // namespace tutti::preload
