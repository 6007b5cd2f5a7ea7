// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>

namespace tutti::detail {

/// Messages of any size, each sent as one MPI message: with MPI 4's large counts, else as one element of a derived
/// type. The receiver may pass a size larger than the message.
void post_send(const void* data, std::size_t bytes, int peer, int tag, MPI_Comm comm, MPI_Request& request);
void post_recv(void* data, std::size_t bytes, int peer, int tag, MPI_Comm comm, MPI_Request& request);

/// Receives a message that MPI_Improbe matched.
void post_matched_recv(void* data, std::size_t bytes, MPI_Message& message, MPI_Request& request);

/// Messages of this size, in bytes, travel with their envelope in every MPI: a send is complete when it is posted, and
/// a matched message is here in full.
inline constexpr std::size_t most_eager_bytes = 256;

/// The same for a message of at most most_eager_bytes; returns when it is received.
void receive_matched(void* data, std::size_t bytes, MPI_Message& message);

/// Returns true if a request is complete. Tests one at a time, because MPI_Testall reports an error to the handler of
/// MPI_COMM_WORLD, which aborts.
[[nodiscard]] bool test_request(MPI_Request& request, MPI_Status& status, const char* what);

/// The size of a received message, in bytes.
[[nodiscard]] std::size_t received_bytes(const MPI_Status& status);

/// Gives up a request without waiting for it: cancels a receive, leaves a send to MPI.
void drop_request(MPI_Request& request, bool is_recv) noexcept;

}  // namespace tutti::detail
