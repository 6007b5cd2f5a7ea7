// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>

namespace tutti::detail {

/// Messages of any number of bytes, as one MPI message each: with MPI 4's large counts, else as one element of a
/// derived type. The receiver may give a larger size than the message has.
void post_send(const void* data, std::size_t bytes, int peer, int tag, MPI_Comm comm, MPI_Request& request);
void post_recv(void* data, std::size_t bytes, int peer, int tag, MPI_Comm comm, MPI_Request& request);

/// Receives a message that MPI_Improbe matched.
void post_matched_recv(void* data, std::size_t bytes, MPI_Message& message, MPI_Request& request);

/// Whether a request is complete. One at a time: MPI_Testall reports an error to the handler of MPI_COMM_WORLD, which
/// aborts.
[[nodiscard]] bool test_request(MPI_Request& request, MPI_Status& status, const char* what);

/// Bytes that a completed receive brought.
[[nodiscard]] std::size_t received_bytes(const MPI_Status& status);

/// Lets go of a request that will not be waited for: a receive is cancelled, a send goes on in MPI.
void drop_request(MPI_Request& request, bool is_recv) noexcept;

}  // namespace tutti::detail
