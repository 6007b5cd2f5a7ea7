// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Wildcards of a receive. Counterpart: MPI_ANY_SOURCE, MPI_ANY_TAG.
inline constexpr int any_source = -1;
inline constexpr int any_tag = -1;
/// A peer that is nobody: the transfer is done at once. Counterpart: MPI_PROC_NULL.
inline constexpr int proc_null = -2;

/// Sends a buffer to rank `dest`. Not collective. Blocking: returns when the buffer may be used again.
/// tag: 0 to 32767. Host or device memory, in every call of this header; on device memory with a stream a blocking call
/// returns when the messages are done and what is left to copy is on the stream; not under capture.
/// Errors: invalid_argument, timeout, aborted, mpi. Counterpart: MPI_Send, ncclSend.
TUTTI_EXPORT void send(const Communicator& comm, ConstBuffer buffer, int dest, int tag = 0,
                       const Options& options = {});

/// Receives at most the buffer's elements from rank `source`. Blocking. A longer message is ErrorCode::truncated.
/// Counterpart: MPI_Recv, ncclRecv.
TUTTI_EXPORT Status recv(const Communicator& comm, Buffer buffer, int source, int tag = 0, const Options& options = {});

/// Both at once, free of deadlock. Counterpart: MPI_Sendrecv.
TUTTI_EXPORT Status sendrecv(const Communicator& comm, ConstBuffer send_buffer, int dest, int send_tag,
                             Buffer recv_buffer, int source, int recv_tag, const Options& options = {});

/// Nonblocking forms: the buffer must stay valid and untouched until the request is done. A message that is too long
/// for an irecv is ErrorCode::truncated where the host MPI lets the library see it; MPICH gives it to the error handler
/// of MPI_COMM_WORLD first.
[[nodiscard]] TUTTI_EXPORT Request isend(const Communicator& comm, ConstBuffer buffer, int dest, int tag = 0,
                                         const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request irecv(const Communicator& comm, Buffer buffer, int source, int tag = 0,
                                         const Options& options = {});

/// Many sends and receives that are posted as one: no order among them can deadlock. Local object; the transfers it
/// collects start at start() or run(), which empty it. Counterpart: ncclGroupStart and ncclGroupEnd.
class TUTTI_EXPORT Group {
 public:
  explicit Group(const Communicator& comm, Options options = {});
  ~Group();
  Group(Group&&) noexcept;
  Group& operator=(Group&&) noexcept;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  Group& send(ConstBuffer buffer, int dest, int tag = 0);
  Group& recv(Buffer buffer, int source, int tag = 0);

  /// Posts all; one request for all of them.
  [[nodiscard]] Request start();
  /// Posts all and waits.
  void run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tutti
