// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <tutti/request.hpp>

#include "backends/mpi/message.hpp"
#include "call/context.hpp"

namespace tutti::detail {

/// A send and a receive of at most most_eager_bytes between host memory; wildcards are MPI's.
struct ShortSend {
  const void* from;
  std::size_t bytes;
  int peer;
  int tag;
};
struct ShortRecv {
  void* to;
  std::size_t bytes;
  std::size_t unit;  ///< size of an element, in bytes
  int peer;
  int tag;
};

/// The messages that the short way of a blocking call has begun, for the execution that continues it.
struct BegunMessages {
  bool is_sent = false;  ///< the send is posted; `send` is null once it is complete
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Message found = MPI_MESSAGE_NULL;  ///< a message that is matched and not yet received
  MPI_Status status{};                   ///< that of the last message that was matched
};

/// The short way of a blocking send, receive, or one of each: posts the send and looks a number of times for the
/// message, with local variables alone. An execution makes all other calls, and continues this one if the peer is late
/// or the message too long: with timeouts, abort, progress and sleep.
class ShortMessages {
 public:
  /// send, recv: null if the call makes none; kept by the caller, as is the context.
  ShortMessages(Context& comm, const ShortSend* send, const ShortRecv* recv) noexcept
      : comm_(comm), send_(send), recv_(recv) {}

  /// Returns true once the call is complete. Throws Error, and then nothing is left to wait for.
  [[nodiscard]] bool run();
  [[nodiscard]] bool is_received() const noexcept { return is_received_; }
  /// That of the message, once it is received.
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  /// What is left to an execution.
  [[nodiscard]] const BegunMessages& begun() const noexcept { return begun_; }

 private:
  void post();
  [[nodiscard]] bool look();
  [[nodiscard]] bool look_for_message();
  [[nodiscard]] bool is_send_done() {
    MPI_Status ignored;
    return begun_.send == MPI_REQUEST_NULL || test_request(begun_.send, ignored, "MPI_Test");
  }

  Context& comm_;
  const ShortSend* send_;
  const ShortRecv* recv_;
  bool is_received_ = false;
  Status status_{};
  BegunMessages begun_;
};

}  // namespace tutti::detail
