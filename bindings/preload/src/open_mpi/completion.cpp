// SPDX-License-Identifier: BSD-3-Clause
// The procedures of Open MPI's interfaces of Fortran that complete and start requests, as in ../completion.cpp.
#include <mpi.h>

#include "open_mpi/procedures.hpp"

#ifdef OPEN_MPI

namespace tutti::preload {
namespace {

using Requests = Handles<MPI_Request>;

/// Fortran counts from one.
int from_one(int code, int number, int* indices) {
  for (int i = 0; has_statuses(code) && i < number; ++i)
    if (indices[i] != MPI_UNDEFINED) ++indices[i];
  return code;
}

int wait_all(int count, Requests& requests, Statuses& statuses) {
  return MPI_Waitall(count, requests.first(count), statuses.first(count));
}
int wait_any(int count, Requests& requests, int* index, MPI_Status* status) {
  return from_one(MPI_Waitany(count, requests.first(count), index, status), 1, index);
}
int wait_some(int count, Requests& requests, int* number, int* indices, Statuses& statuses) {
  const int code = MPI_Waitsome(count, requests.first(count), number, indices, statuses.first(count));
  return from_one(code, *number, indices);
}
int test(MPI_Request* request, Flag& flag, MPI_Status* status) { return MPI_Test(request, flag.value(), status); }
int test_all(int count, Requests& requests, Flag& flag, Statuses& statuses) {
  return MPI_Testall(count, requests.first(count), flag.value(), statuses.first(count));
}
int test_any(int count, Requests& requests, int* index, Flag& flag, MPI_Status* status) {
  return from_one(MPI_Testany(count, requests.first(count), index, flag.value(), status), 1, index);
}
int test_some(int count, Requests& requests, int* number, int* indices, Statuses& statuses) {
  const int code = MPI_Testsome(count, requests.first(count), number, indices, statuses.first(count));
  return from_one(code, *number, indices);
}
int get_status(MPI_Request request, Flag& flag, MPI_Status* status) {
  return MPI_Request_get_status(request, flag.value(), status);
}
int start_all(int count, Requests& requests) { return MPI_Startall(count, requests.first(count)); }

}  // namespace
}  // namespace tutti::preload

using namespace tutti::preload;

TUTTI_MPI_FORTRAN(2, wait, MPI_Wait)
TUTTI_MPI_FORTRAN(3, waitall, wait_all)
TUTTI_MPI_FORTRAN(4, waitany, wait_any)
TUTTI_MPI_FORTRAN(5, waitsome, wait_some)
TUTTI_MPI_FORTRAN_LOGICAL(3, test, test)
TUTTI_MPI_FORTRAN_LOGICAL(4, testall, test_all)
TUTTI_MPI_FORTRAN_LOGICAL(5, testany, test_any)
TUTTI_MPI_FORTRAN_LOGICAL(5, testsome, test_some)
TUTTI_MPI_FORTRAN_LOGICAL(3, request_get_status, get_status)
TUTTI_MPI_FORTRAN(1, start, MPI_Start)
TUTTI_MPI_FORTRAN(2, startall, start_all)
TUTTI_MPI_FORTRAN(1, cancel, MPI_Cancel)
TUTTI_MPI_FORTRAN(1, request_free, MPI_Request_free)

#endif
