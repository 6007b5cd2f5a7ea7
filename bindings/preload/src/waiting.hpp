// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <sched.h>

#include <cstdint>
#include <tutti/environment.hpp>

#include "requests.hpp"

/// Waits of the program inside the MPI. While calls of the library are under way, other ranks may need steps of this
/// one: it then asks the MPI again and again, and takes steps in between.
namespace tutti::preload {

/// attempt(is_done): the MPI's call that tells whether the wait is over. Returns its code.
template <typename Attempt>
int wait_by_steps(const Attempt& attempt) {
  for (;;) {
    int is_done = 0;
    if (const int code = attempt(is_done); code != MPI_SUCCESS || is_done != 0) return code;
    tutti::progress();
    sched_yield();
  }
}

inline int wait_by_steps(MPI_Request& request, MPI_Status* status) {
  return wait_by_steps([&](int& is_done) { return PMPI_Test(&request, &is_done, status); });
}

/// wait(): the MPI's blocking call. attempt: as above, in its place.
template <typename Wait, typename Attempt>
int wait_or_steps(const Wait& wait, const Attempt& attempt) {
  return has_active() ? wait_by_steps(attempt) : wait();
}

/// begin(request): the nonblocking form of the call.
template <typename Wait, typename Begin>
int wait_or_request(MPI_Status* status, const Wait& wait, const Begin& begin) {
  if (!has_active()) return wait();
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = begin(&request);
  return code == MPI_SUCCESS ? wait_by_steps(request, status) : code;
}

/// receive(request) and send(request): the two sides of an MPI_Sendrecv.
template <typename Wait, typename Receive, typename Send>
int wait_or_requests(MPI_Status* status, const Wait& wait, const Receive& receive, const Send& send) {
  if (!has_active()) return wait();
  MPI_Request received = MPI_REQUEST_NULL;
  MPI_Request sent = MPI_REQUEST_NULL;
  if (const int code = receive(&received); code != MPI_SUCCESS) return code;
  const int code_of_send = send(&sent);
  if (code_of_send != MPI_SUCCESS) PMPI_Cancel(&received);
  const int code = wait_by_steps(received, status);
  if (code_of_send != MPI_SUCCESS) return code_of_send;
  const int last = wait_by_steps(sent, MPI_STATUS_IGNORE);
  return code != MPI_SUCCESS ? code : last;
}

/// In calls that test: steps of all calls.
inline void step() {
  if (has_active()) tutti::progress();
}

}  // namespace tutti::preload
