// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
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
TUTTI_REFUSE_TEMPORARY(isend)
TUTTI_REFUSE_TEMPORARY(irecv)

/// Persistent forms: bind the buffer; each start() of the request posts the transfer again. Local: the other side need
/// not be persistent. On device memory each start() is ordered after the work that the stream of the options then has.
/// The buffer must stay valid while the request lives, and untouched from each start() until the operation is done.
/// Errors: as isend() and irecv(). Counterpart: MPI_Send_init, MPI_Recv_init.
[[nodiscard]] TUTTI_EXPORT Request send_init(const Communicator& comm, ConstBuffer buffer, int dest, int tag = 0,
                                             const Options& options = {});
[[nodiscard]] TUTTI_EXPORT Request recv_init(const Communicator& comm, Buffer buffer, int source, int tag = 0,
                                             const Options& options = {});

/// Waits for a message without receiving it, and returns its source, tag and length in elements of `type`. A receive
/// from that source with that tag then gets this message, unless another thread receives it first. Not collective.
/// Blocking. Options: the timeout. Errors: as recv(). Counterpart: MPI_Probe.
TUTTI_EXPORT Status probe(const Communicator& comm, Datatype type, int source, int tag = 0,
                          const Options& options = {});

/// Looks for a message without receiving it; returns nothing if none is here. Never blocks. Advances all outstanding
/// operations of the process. Counterpart: MPI_Iprobe.
[[nodiscard]] TUTTI_EXPORT std::optional<Status> iprobe(const Communicator& comm, Datatype type, int source,
                                                        int tag = 0);

/// Collects sends and receives and posts them together, so that no order among them can deadlock. A local object;
/// start(), run() and init() take the collected transfers and empty the group. Counterpart: ncclGroupStart and
/// ncclGroupEnd.
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
  /// Binds all transfers to one persistent request, each start() of which posts them again: a halo exchange is
  /// described once and started at every step. Local. Counterpart: MPI_Send_init and MPI_Recv_init, one for each
  /// transfer, and MPI_Startall.
  [[nodiscard]] Request init();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tutti
