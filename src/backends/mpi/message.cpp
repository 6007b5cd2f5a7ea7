// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/message.hpp"

#include <climits>

#include "core/mpi_call.hpp"
#include "core/progress_hook.hpp"

namespace tutti::detail {
namespace {

// MPI 4 has functions with large counts. With the ABI of MPI 5 the host MPI may be an older one, which lacks them.
#if MPI_VERSION >= 4 && !defined(MPI_ABI_VERSION)
#define TUTTI_LARGE_MESSAGES
#endif

#ifndef TUTTI_LARGE_MESSAGES

/// Makes a type of exactly `bytes` bytes: whole chunks of 1 GiB, then the rest.
MPI_Datatype big_type(std::size_t bytes) {
  constexpr std::size_t chunk = std::size_t{1} << 30U;
  const int whole = static_cast<int>(bytes / chunk);
  const int rest = static_cast<int>(bytes % chunk);
  MPI_Datatype one = MPI_DATATYPE_NULL;
  MPI_Datatype all = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(static_cast<int>(chunk), MPI_BYTE, &one), "MPI_Type_contiguous");
  const int lengths[] = {whole, rest};
  const MPI_Aint displs[] = {0, static_cast<MPI_Aint>(static_cast<std::size_t>(whole) * chunk)};
  const MPI_Datatype types[] = {one, MPI_BYTE};
  check_mpi(MPI_Type_create_struct(2, lengths, displs, types, &all), "MPI_Type_create_struct");
  check_mpi(MPI_Type_commit(&all), "MPI_Type_commit");
  MPI_Type_free(&one);
  return all;
}

#endif

bool fits(std::size_t bytes) { return bytes <= static_cast<std::size_t>(INT_MAX); }

}  // namespace

void post_send(const void* data, std::size_t bytes, int peer, int tag, MPI_Comm comm, MPI_Request& request) {
  if (fits(bytes)) {
    check_mpi(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, peer, tag, comm, &request), "MPI_Isend");
    return;
  }
#ifdef TUTTI_LARGE_MESSAGES
  check_mpi(MPI_Isend_c(data, static_cast<MPI_Count>(bytes), MPI_BYTE, peer, tag, comm, &request), "MPI_Isend_c");
#else
  MPI_Datatype type = big_type(bytes);
  check_mpi(MPI_Isend(data, 1, type, peer, tag, comm, &request), "MPI_Isend");
  MPI_Type_free(&type);
#endif
}

void post_recv(void* data, std::size_t bytes, int peer, int tag, MPI_Comm comm, MPI_Request& request) {
  if (fits(bytes)) {
    check_mpi(MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, peer, tag, comm, &request), "MPI_Irecv");
    return;
  }
#ifdef TUTTI_LARGE_MESSAGES
  check_mpi(MPI_Irecv_c(data, static_cast<MPI_Count>(bytes), MPI_BYTE, peer, tag, comm, &request), "MPI_Irecv_c");
#else
  MPI_Datatype type = big_type(bytes);
  check_mpi(MPI_Irecv(data, 1, type, peer, tag, comm, &request), "MPI_Irecv");
  MPI_Type_free(&type);
#endif
}

void post_matched_recv(void* data, std::size_t bytes, MPI_Message& message, MPI_Request& request) {
  if (fits(bytes)) {
    check_mpi(MPI_Imrecv(data, static_cast<int>(bytes), MPI_BYTE, &message, &request), "MPI_Imrecv");
    return;
  }
#ifdef TUTTI_LARGE_MESSAGES
  check_mpi(MPI_Imrecv_c(data, static_cast<MPI_Count>(bytes), MPI_BYTE, &message, &request), "MPI_Imrecv_c");
#else
  MPI_Datatype type = big_type(bytes);
  check_mpi(MPI_Imrecv(data, 1, type, &message, &request), "MPI_Imrecv");
  MPI_Type_free(&type);
#endif
}

void receive_matched(void* data, std::size_t bytes, MPI_Message& message) {
  check_mpi(MPI_Mrecv(data, static_cast<int>(bytes), MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
}

bool test_request(MPI_Request& request, MPI_Status& status, const char* what) {
  int done = 0;
  check_mpi(progress_hook::test(request, done, &status), what);
  return done != 0;
}

std::size_t received_bytes(const MPI_Status& status) {
  int count = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
  if (count != MPI_UNDEFINED) return static_cast<std::size_t>(count);
  MPI_Count bytes = 0;
  check_mpi(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
  return bytes == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(bytes);
}

void drop_request(MPI_Request& request, bool is_recv) noexcept {
  if (request == MPI_REQUEST_NULL || !mpi_is_usable()) return;
  if (is_recv) MPI_Cancel(&request);
  MPI_Request_free(&request);
}

}  // namespace tutti::detail
