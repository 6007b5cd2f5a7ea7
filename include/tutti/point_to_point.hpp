// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Wildcards for receives. Calls take MPI_ANY_SOURCE and MPI_ANY_TAG too. No MPI has constants of these values, so that
/// the host MPI's own keep their meaning. Counterpart: MPI_ANY_SOURCE, MPI_ANY_TAG.
inline constexpr int any_source = -30101;
inline constexpr int any_tag = -30102;
/// The null peer: a transfer to or from it completes at once. Calls take MPI_PROC_NULL too; a Status has proc_null.
/// Counterpart: MPI_PROC_NULL.
inline constexpr int proc_null = -30103;

/// Sends a buffer to rank `dest`. Not collective. Blocking: returns when the buffer may be used again. Tags are 0 to
/// 32767.
/// Memory, for every call of this header: host or device; the caller owns it. On device memory with a stream, a
/// blocking call returns when the messages are done and the remaining copies are queued on the stream.
/// Streams under capture are refused.
/// Errors: invalid_argument, timeout, aborted, mpi.
/// Counterpart: MPI_Send, ncclSend.
TUTTI_EXPORT void send(const Communicator& comm, ConstBuffer buffer, int dest, int tag = 0,
                       const Options& options = {});

/// Receives a message of at most the buffer's size from rank `source`. Not collective. Blocking. Errors: as send(), and
/// truncated for a longer message. Counterpart: MPI_Recv, ncclRecv.
TUTTI_EXPORT Status recv(const Communicator& comm, Buffer buffer, int source, int tag = 0, const Options& options = {});

/// Sends and receives at once, so that no order of calls can deadlock. Not collective. Blocking. Errors: as recv().
/// Counterpart: MPI_Sendrecv.
TUTTI_EXPORT Status sendrecv(const Communicator& comm, ConstBuffer send_buffer, int dest, int send_tag,
                             Buffer recv_buffer, int source, int recv_tag, const Options& options = {});

/// Nonblocking forms: return at once; the buffer must stay valid and untouched until the request is done. A message too
/// long for an irecv is ErrorCode::truncated if the host MPI reports it to the library; MPICH calls the error handler
/// of MPI_COMM_WORLD first. Counterpart: MPI_Isend, MPI_Irecv.
[[nodiscard]] TUTTI_EXPORT Request isend(const Communicator& comm, ConstBuffer buffer, int dest, int tag = 0,
                                         const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request irecv(const Communicator& comm, Buffer buffer, int source, int tag = 0,
                                         const Options& options = {});

/// Refuse temporary buffers, whose memory would be gone before the operation is done, when they are compiled.
template <typename Data, typename... Rest>
requires detail::AnyTemporary<Data> Request isend(const Communicator&, Data&&, Rest&&...) {
  detail::refuse_temporary<Data>();
  return {};
}
template <typename Data, typename... Rest>
requires detail::AnyTemporary<Data> Request irecv(const Communicator&, Data&&, Rest&&...) {
  detail::refuse_temporary<Data>();
  return {};
}

/// Collects sends and receives and posts them together, so that no order among them can deadlock. A local object;
/// start() and run() post the collected transfers and empty the group. Counterpart: ncclGroupStart and ncclGroupEnd.
class TUTTI_EXPORT Group {
 public:
  explicit Group(const Communicator& comm, Options options = {});
  ~Group();
  Group(Group&&) noexcept;
  Group& operator=(Group&&) noexcept;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Adds a transfer; the buffer must stay valid and untouched until the group's transfers are done.
  Group& send(ConstBuffer buffer, int dest, int tag = 0);
  Group& recv(Buffer buffer, int source, int tag = 0);
  template <typename Data, typename... Rest>
  requires detail::AnyTemporary<Data> Group& send(Data&&, Rest&&...) {
    detail::refuse_temporary<Data>();
    return *this;
  }
  template <typename Data, typename... Rest>
  requires detail::AnyTemporary<Data> Group& recv(Data&&, Rest&&...) {
    detail::refuse_temporary<Data>();
    return *this;
  }

  /// Posts all transfers and returns one request for them. Nonblocking.
  [[nodiscard]] Request start();
  /// Posts all transfers and waits for them. Blocking.
  void run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tutti
