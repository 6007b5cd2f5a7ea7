// SPDX-License-Identifier: BSD-3-Clause
// MPI's functions as the library calls them. They take the place of those of libmpi, which a program may always do
// (MPI 4.0, chapter 15), so that the library under test is the one that programs use.
#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "simulation/handles.hpp"
#include "simulation/messages.hpp"

using tutti::simulation::handle_of;
using tutti::simulation::Messages;
using tutti::simulation::number_of;
using tutti::simulation::Scheduler;

namespace {

Messages& messages() { return Messages::current(); }

int put(MPI_Request* request, Messages::Handle made) {
  *request = handle_of<MPI_Request>(made);
  return MPI_SUCCESS;
}

int join(MPI_Comm comm, Messages::Collective what, int root, const Messages::Part& part, MPI_Request* request) {
  return put(request, messages().join(number_of(comm), what, root, part));
}

/// Waits inside MPI, where messages go on and the library does not.
int wait_for(Messages::Handle request) {
  int error = MPI_SUCCESS;
  while (!messages().test(request, error)) Scheduler::here()->wait();
  return error;
}

}  // namespace

extern "C" {

// Before MPI_Init the library takes a communicator for one of a session, and leaves MPI_COMM_SELF alone.
int MPI_Initialized(int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}
int MPI_Finalized(int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}
int MPI_Query_thread(int* level) {
  *level = MPI_THREAD_FUNNELED;
  return MPI_SUCCESS;
}
/// No: a rank that aborts tells nobody by messages.
int MPI_Is_thread_main(int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}
int MPI_Error_class(int code, int* error_class) {
  *error_class = code;
  return MPI_SUCCESS;
}
int MPI_Error_string(int /*code*/, char* text, int* length) {
  constexpr char words[] = "an error of the simulated MPI";
  std::memcpy(text, words, sizeof words);
  *length = static_cast<int>(sizeof words) - 1;
  return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  *rank = messages().rank_in(number_of(comm));
  return MPI_SUCCESS;
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  *size = messages().size_of(number_of(comm));
  return MPI_SUCCESS;
}
int MPI_Comm_free(MPI_Comm* comm) {
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return join(comm, Messages::Collective::duplicate, 0, {nullptr, nullptr, 0, made}, request);
}

int MPI_Isend(const void* data, int count, MPI_Datatype /*bytes*/, int peer, int tag, MPI_Comm comm,
              MPI_Request* request) {
  Scheduler::here()->let_sleeps_end();
  return put(request, messages().send(number_of(comm), peer, tag, data, static_cast<std::size_t>(count)));
}
int MPI_Irecv(void* data, int count, MPI_Datatype /*bytes*/, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  Scheduler::here()->let_sleeps_end();
  return put(request, messages().receive(number_of(comm), peer, tag, data, static_cast<std::size_t>(count)));
}
int MPI_Send(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(data, count, type, peer, tag, comm, &request);
  return wait_for(number_of(request));
}
int MPI_Recv(void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Status* /*status*/) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(data, count, type, peer, tag, comm, &request);
  return wait_for(number_of(request));
}
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* /*status*/) {
  *flag = 1;
  if (*request == MPI_REQUEST_NULL) return MPI_SUCCESS;
  int error = MPI_SUCCESS;
  *flag = messages().test(number_of(*request), error) ? 1 : 0;
  if (*flag != 0) *request = MPI_REQUEST_NULL;
  return error;
}
int MPI_Iprobe(int /*source*/, int /*tag*/, MPI_Comm /*comm*/, int* flag, MPI_Status* /*status*/) {
  Scheduler::here()->wait();
  messages().progress();
  *flag = 0;
  return MPI_SUCCESS;
}
/// For the news of an abort, which no rank sends here.
int MPI_Improbe(int /*source*/, int /*tag*/, MPI_Comm /*comm*/, int* flag, MPI_Message* /*message*/,
                MPI_Status* /*status*/) {
  *flag = 0;
  return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request* request) {
  messages().cancel(number_of(*request));
  return MPI_SUCCESS;
}
int MPI_Request_free(MPI_Request* request) {
  messages().forget(number_of(*request));
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

int MPI_Ibcast(void* data, int count, MPI_Datatype /*bytes*/, int root, MPI_Comm comm, MPI_Request* request) {
  return join(comm, Messages::Collective::broadcast, root, {data, data, static_cast<std::size_t>(count), nullptr},
              request);
}
int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  const bool is_int = type == MPI_INT;
  const auto what = !is_int         ? Messages::Collective::greatest_doubles
                    : op == MPI_MIN ? Messages::Collective::smallest_ints
                                    : Messages::Collective::greatest_ints;
  const std::size_t bytes = static_cast<std::size_t>(count) * (is_int ? sizeof(int) : sizeof(double));
  return join(comm, what, 0, {in == MPI_IN_PLACE ? out : in, out, bytes, nullptr}, request);
}
int MPI_Iallgather(const void* in, int count, MPI_Datatype /*bytes*/, void* out, int /*out_count*/,
                   MPI_Datatype /*out_type*/, MPI_Comm comm, MPI_Request* request) {
  return join(comm, Messages::Collective::gather, 0, {in, out, static_cast<std::size_t>(count), nullptr}, request);
}

}  // extern "C"
