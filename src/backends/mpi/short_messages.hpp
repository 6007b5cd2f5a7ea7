// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <tutti/request.hpp>

#include "call/context.hpp"
#include "call/point_to_point.hpp"

namespace tutti::detail {

/// The messages that the short way of a blocking call has begun, for the execution that continues it.
struct BegunMessages {
  bool is_sent = false;  ///< the send is posted; `send` is null once it is complete
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Message found = MPI_MESSAGE_NULL;  ///< a message that is matched and not yet received, and its status
  MPI_Status status{};
};

/// The short way of a blocking send, receive, or one of each: posts a send of a few cache lines from host memory and
/// looks a number of times for the message, with local variables alone. An execution makes all other calls and
/// continues this one if the peer is late or the message is long: with timeouts, abort, progress and sleep.
class ShortMessages {
 public:
  /// send, recv: null if the call makes none; kept by the caller, as is the context.
  ShortMessages(Context& comm, const PointToPoint* send, const PointToPoint* recv) noexcept
      : comm_(comm), send_(send), recv_(recv) {}

  /// Returns true once the call is complete. Throws Error, and then nothing is left to wait for.
  [[nodiscard]] bool run();
  [[nodiscard]] bool is_received() const noexcept { return is_received_; }
  /// That of the message, once it is received.
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  /// What is left to an execution.
  [[nodiscard]] const BegunMessages& begun() const noexcept { return begun_; }

 private:
  [[nodiscard]] bool suits() const noexcept;
  [[nodiscard]] bool run_some_looks();
  [[nodiscard]] bool look_for_message();
  [[nodiscard]] bool is_send_done();

  Context& comm_;
  const PointToPoint* send_;
  const PointToPoint* recv_;
  bool is_received_ = false;
  Status status_{};
  BegunMessages begun_{};
};

}  // namespace tutti::detail
