// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "diagnosis/recorder.hpp"
#include "watch/description.hpp"

namespace tutti::preload {

/// A call that the completion of a request ends.
struct RequestedCall {
  tutti::detail::flight::Facts facts{};
  std::string place{};
  Span sent{};  ///< that the program may not change meanwhile
  bool is_persistent = false;
  bool is_started = true;
  tutti::detail::flight::Note note{};  ///< of a call that is under way
  std::uint64_t hash = 0;              ///< of `sent` at the start
  std::uint64_t receive = 0;           ///< its number among the posted ones; 0: none
  /// Tells of a start of a persistent message: describes the send, or posts the receive and returns its number.
  std::function<std::uint64_t()> tell{};
  std::function<void()> withdraw{};  ///< tells the receiver that a send is cancelled
};

/// What is known of a call that has ended.
struct Completed {
  std::string changed{};      ///< the place of a call whose send buffer was changed too early
  std::uint64_t receive = 0;  ///< as in RequestedCall
};

/// The requests of the program's calls. Any thread.
class WatchedRequests {
 public:
  /// A request whose call is under way, or a persistent one that is not started.
  void add(MPI_Request request, RequestedCall call);
  /// A persistent one is started, before the MPI starts it.
  void start(MPI_Request request);
  [[nodiscard]] bool knows(MPI_Request request);
  /// The program waits for it.
  void wait(MPI_Request request);
  /// The MPI has completed it, if it has; `after` is the program's handle afterwards.
  [[nodiscard]] Completed complete(MPI_Request before, MPI_Request after);
  /// The program cancels it: whether a message comes is not known any more, neither here nor at the receiver.
  void cancel(MPI_Request request);
  /// The program has freed it.
  void forget(MPI_Request request);
  /// What the program has not completed or freed, in words.
  [[nodiscard]] std::vector<std::string> left();

 private:
  std::mutex mutex_{};
  /// Several of one handle: MPICH gives one to all that are complete at once.
  std::multimap<MPI_Request, RequestedCall> all_{};
};

[[nodiscard]] WatchedRequests& watched_requests();

/// As MPI_Request_get_status says, also of persistent requests that are not active: these are complete.
[[nodiscard]] bool is_complete(MPI_Request request);

}  // namespace tutti::preload
