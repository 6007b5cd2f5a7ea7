// SPDX-License-Identifier: BSD-3-Clause
// MPICH's procedures of the module mpi_f08 that have no buffer call PMPI_ functions, past those of this library. They
// stand here under their names, do what concerns the library, and call the ones that they hide.
#include <mpi.h>
#include <sched.h>

#include <type_traits>

#include "errors.hpp"
#include "fortran_2008.hpp"
#include "member.hpp"
#include "report.hpp"
#include "requests.hpp"
#include "watch/completion.hpp"
#include "watch/message_types.hpp"
#include "watch/requests.hpp"

#ifdef MPICH_VERSION

namespace tutti::preload {
namespace {

static_assert(std::is_same_v<MPI_Fint, MPI_Request> && std::is_same_v<MPI_Fint, MPI_Comm> &&
                  std::is_same_v<MPI_Fint, MPI_Op> && std::is_same_v<MPI_Fint, MPI_Datatype> &&
                  std::is_same_v<MPI_Fint, MPI_Info>,
              "a handle of Fortran 2008 holds the one of C");

/// The MPI completes the tokens afterwards; it has the error of a failed call from its communicator's handler.
void advance(const Operations& operations) {
  for (const auto& operation : operations) raise(operation->comm(), operation->advance());
}
void finish(MPI_Fint count, const MPI_Request* requests) {
  for (const auto& operation : operations_of(count, requests)) raise(operation->comm(), operation->finish());
}

bool is_any_done(MPI_Fint count, const MPI_Request* requests) {
  for (MPI_Fint i = 0; requests != nullptr && i < count; ++i) {
    int flag = 0;
    if (requests[i] != MPI_REQUEST_NULL) PMPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
    if (flag != 0) return true;
  }
  return false;
}
void finish_any(MPI_Fint count, const MPI_Request* requests) {
  const auto operations = operations_of(count, requests);
  while (!operations.empty() && !is_any_done(count, requests)) {
    advance(operations);
    sched_yield();
  }
}

/// hidden(): makes the call. Its own errors are in ierror already.
template <typename Hidden>
void complete(MPI_Fint count, const MPI_Request* requests, Until until, MPI_Fint* ierror, const Hidden& hidden) {
  const auto usual = [&] {
    hidden();
    return MPI_SUCCESS;
  };
  const int code = watch_completion(count, requests, until, usual);
  if (code != MPI_SUCCESS) set(ierror, code);
}

/// False after an error.
bool start(MPI_Fint count, const MPI_Request* requests, MPI_Fint* ierror) {
  if (const int code = start_watched(count, requests); code != MPI_SUCCESS) {
    set(ierror, code);
    return false;
  }
  for (const auto& operation : operations_of(count, requests)) {
    const int code = raise(operation->comm(), operation->start());
    set(ierror, code);
    if (code != MPI_SUCCESS) return false;
  }
  return true;
}

}  // namespace
}  // namespace tutti::preload

using namespace tutti::preload;

extern "C" {

void mpi_wait_f08_(MPI_Request* request, void* status, MPI_Fint* ierror) {
  complete(1, request, Until::all, ierror, [&] {
    finish(1, request);
    call_hidden("mpi_wait_f08_", request, status, ierror);
  });
}
void mpi_waitall_f08_(MPI_Fint* count, MPI_Request* requests, void* statuses, MPI_Fint* ierror) {
  complete(*count, requests, Until::all, ierror, [&] {
    finish(*count, requests);
    call_hidden("mpi_waitall_f08_", count, requests, statuses, ierror);
  });
}
void mpi_waitany_f08_(MPI_Fint* count, MPI_Request* requests, MPI_Fint* index, void* status, MPI_Fint* ierror) {
  complete(*count, requests, Until::any, ierror, [&] {
    finish_any(*count, requests);
    call_hidden("mpi_waitany_f08_", count, requests, index, status, ierror);
  });
}
void mpi_waitsome_f08_(MPI_Fint* count, MPI_Request* requests, MPI_Fint* number, MPI_Fint* indices, void* statuses,
                       MPI_Fint* ierror) {
  complete(*count, requests, Until::any, ierror, [&] {
    finish_any(*count, requests);
    call_hidden("mpi_waitsome_f08_", count, requests, number, indices, statuses, ierror);
  });
}
void mpi_test_f08_(MPI_Request* request, void* flag, void* status, MPI_Fint* ierror) {
  complete(1, request, Until::none, ierror, [&] {
    advance(operations_of(1, request));
    call_hidden("mpi_test_f08_", request, flag, status, ierror);
  });
}
void mpi_testall_f08_(MPI_Fint* count, MPI_Request* requests, void* flag, void* statuses, MPI_Fint* ierror) {
  complete(*count, requests, Until::none, ierror, [&] {
    advance(operations_of(*count, requests));
    call_hidden("mpi_testall_f08_", count, requests, flag, statuses, ierror);
  });
}
void mpi_testany_f08_(MPI_Fint* count, MPI_Request* requests, MPI_Fint* index, void* flag, void* status,
                      MPI_Fint* ierror) {
  complete(*count, requests, Until::none, ierror, [&] {
    advance(operations_of(*count, requests));
    call_hidden("mpi_testany_f08_", count, requests, index, flag, status, ierror);
  });
}
void mpi_testsome_f08_(MPI_Fint* count, MPI_Request* requests, MPI_Fint* number, MPI_Fint* indices, void* statuses,
                       MPI_Fint* ierror) {
  complete(*count, requests, Until::none, ierror, [&] {
    advance(operations_of(*count, requests));
    call_hidden("mpi_testsome_f08_", count, requests, number, indices, statuses, ierror);
  });
}
void mpi_request_get_status_f08_(MPI_Request* request, void* flag, void* status, MPI_Fint* ierror) {
  advance(operations_of(1, request));
  call_hidden("mpi_request_get_status_f08_", request, flag, status, ierror);
  if (is_checked() && is_complete(*request)) watched_requests().tell_end(*request);
}
void mpi_start_f08_(MPI_Request* request, MPI_Fint* ierror) {
  if (start(1, request, ierror)) call_hidden("mpi_start_f08_", request, ierror);
}
void mpi_startall_f08_(MPI_Fint* count, MPI_Request* requests, MPI_Fint* ierror) {
  if (start(*count, requests, ierror)) call_hidden("mpi_startall_f08_", count, requests, ierror);
}
void mpi_request_free_f08_(MPI_Request* request, MPI_Fint* ierror) {
  finish(1, request);
  forget(*request);
  if (is_watched() && watched_requests().forget(*request)) {
    *request = MPI_REQUEST_NULL;
    return set(ierror, MPI_SUCCESS);
  }
  call_hidden("mpi_request_free_f08_", request, ierror);
}

void mpi_cancel_f08_(MPI_Request* request, MPI_Fint* ierror) { set(ierror, MPI_Cancel(request)); }

void mpi_barrier_f08_(MPI_Comm* comm, MPI_Fint* ierror) { set(ierror, MPI_Barrier(*comm)); }
void mpi_ibarrier_f08_(MPI_Comm* comm, MPI_Request* request, MPI_Fint* ierror) {
  set(ierror, MPI_Ibarrier(*comm, request));
}
#if MPI_VERSION >= 4
void mpi_barrier_init_f08_(MPI_Comm* comm, MPI_Info* info, MPI_Request* request, MPI_Fint* ierror) {
  set(ierror, MPI_Barrier_init(*comm, *info, request));
}
#endif

// The matched message is the MPI's, so that it is not known here.
void mpi_mprobe_f08_(MPI_Fint* from, MPI_Fint* tag, MPI_Comm* comm, void* message, void* status, MPI_Fint* ierror) {
  if (is_checked()) channel().ignore_messages();
  call_hidden("mpi_mprobe_f08_", from, tag, comm, message, status, ierror);
}
void mpi_improbe_f08_(MPI_Fint* from, MPI_Fint* tag, MPI_Comm* comm, void* flag, void* message, void* status,
                      MPI_Fint* ierror) {
  if (is_checked()) channel().ignore_messages();
  call_hidden("mpi_improbe_f08_", from, tag, comm, flag, message, status, ierror);
}

void mpi_op_free_f08_(MPI_Op* op, MPI_Fint* ierror) { set(ierror, MPI_Op_free(op)); }
void mpi_type_free_f08_(MPI_Datatype* type, MPI_Fint* ierror) { set(ierror, MPI_Type_free(type)); }
void mpi_comm_free_f08_(MPI_Comm* comm, MPI_Fint* ierror) {
  if (is_watched()) return set(ierror, MPI_Comm_free(comm));
  end_member(*comm);
  call_hidden("mpi_comm_free_f08_", comm, ierror);
}
void mpi_comm_disconnect_f08_(MPI_Comm* comm, MPI_Fint* ierror) {
  if (is_watched()) return set(ierror, MPI_Comm_disconnect(comm));
  end_member(*comm);
  call_hidden("mpi_comm_disconnect_f08_", comm, ierror);
}
void mpi_finalize_f08_(MPI_Fint* ierror) {
  if (is_watched()) return set(ierror, MPI_Finalize());
  print_report();
  make_no_more_sides();
  call_hidden("mpi_finalize_f08_", ierror);
}
}

#endif
