// SPDX-License-Identifier: BSD-3-Clause
#include "support/standin/progress_hook.hpp"

#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <mutex>

namespace {

using Poll = int (*)(void* thing);

struct Thing {
  Poll poll;
  void* state;
};

constexpr int done = 1;

// Never destroyed, because MPI_Finalize may come after the statics of this file.
std::list<Thing>& things() {
  static auto& all = *new std::list<Thing>;
  return all;
}
std::mutex mutex;
std::atomic<int> alive{0};
std::atomic<long> starts{0};
std::atomic<long> polls{0};
thread_local bool is_in_poll = false;

[[noreturn]] void refuse(const char* what) {
  std::fprintf(stderr, "stand-in for MPICH's hook: %s\n", what);
  std::abort();
}

void progress() {
  if (is_in_poll) refuse("an MPI call that makes progress was made inside a poll");
  if (alive.load() == 0) return;
  const std::lock_guard lock(mutex);
  is_in_poll = true;
  for (auto thing = things().begin(); thing != things().end();) {
    polls.fetch_add(1);
    if (thing->poll(&*thing) == done) {
      thing = things().erase(thing);
      alive.fetch_sub(1);
    } else {
      ++thing;
    }
  }
  is_in_poll = false;
}

bool is_complete(MPI_Request request) {
  int flag = 1;
  if (request != MPI_REQUEST_NULL) PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  return flag != 0;
}

/// Waits as MPICH does, without blocking inside the MPI.
int wait(MPI_Request* request, MPI_Status* status) {
  int flag = 0;
  int code = PMPI_Test(request, &flag, status);
  while (code == MPI_SUCCESS && flag == 0) {
    progress();
    code = PMPI_Test(request, &flag, status);
    if (flag == 0) sched_yield();
  }
  return code;
}

int ended(int code, MPI_Request* request) { return code == MPI_SUCCESS ? wait(request, MPI_STATUS_IGNORE) : code; }

}  // namespace

extern "C" {

void tutti_standin_progress_hook_counts(tutti::test::standin_progress_hook::Counts* counts) {
  *counts = {starts.load(), polls.load(), alive.load()};
}

int MPIX_Async_start(Poll poll, void* state, int /*stream*/) {
  if (is_in_poll) refuse("MPIX_Async_start was called inside a poll");
  const std::lock_guard lock(mutex);
  things().push_back({poll, state});
  alive.fetch_add(1);
  starts.fetch_add(1);
  return MPI_SUCCESS;
}

int MPIX_Request_is_complete(MPI_Request request) { return is_complete(request) ? 1 : 0; }

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!is_complete(*request)) progress();
  return PMPI_Test(request, flag, status);
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  progress();
  return PMPI_Testall(count, requests, flag, statuses);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) { return wait(request, status); }

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  int flag = 0;
  int code = PMPI_Testall(count, requests, &flag, statuses);
  while (code == MPI_SUCCESS && flag == 0) {
    progress();
    code = PMPI_Testall(count, requests, &flag, statuses);
    if (flag == 0) sched_yield();
  }
  return code;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  progress();
  return PMPI_Iprobe(source, tag, comm, flag, status);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  progress();
  return PMPI_Improbe(source, tag, comm, flag, message, status);
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  int flag = 0;
  int code = MPI_SUCCESS;
  while (code == MPI_SUCCESS && flag == 0) {
    code = MPI_Iprobe(source, tag, comm, &flag, status);
    if (flag == 0) sched_yield();
  }
  return code;
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = PMPI_Irecv(data, count, type, source, tag, comm, &request);
  return code == MPI_SUCCESS ? wait(&request, status) : code;
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return ended(PMPI_Isend(data, count, type, to, tag, comm, &request), &request);
}

int MPI_Ssend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return ended(PMPI_Issend(data, count, type, to, tag, comm, &request), &request);
}

int MPI_Barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return ended(PMPI_Ibarrier(comm, &request), &request);
}

int MPI_Allreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return ended(PMPI_Iallreduce(data, result, count, type, op, comm, &request), &request);
}

int MPI_Finalize() {
  const int code = PMPI_Finalize();
  constexpr int rounds = 3;
  for (int i = 0; i < rounds; ++i) progress();
  if (alive.load() != 0) refuse("a poll goes on after MPI_Finalize");
  return code;
}
}
