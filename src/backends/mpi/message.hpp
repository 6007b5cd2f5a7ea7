// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>

namespace tutti::detail {

/// Messages of any number of bytes, as one MPI message each: with MPI 4's large counts, else as one element of a
/// derived type. The receiver may give a larger size than the message has.
void post_send(const void* data, std::size_t bytes, int peer, int tag, MPI_Comm comm, MPI_Request& request);
void post_recv(void* data, std::size_t bytes, int peer, int tag, MPI_Comm comm, MPI_Request& request);

/// Bytes that a completed receive brought.
[[nodiscard]] std::size_t received_bytes(const MPI_Status& status);

/// Lets go of a request that will not be waited for: a receive is cancelled, a send goes on in MPI.
void drop_request(MPI_Request& request, bool is_recv) noexcept;

}  // namespace tutti::detail
