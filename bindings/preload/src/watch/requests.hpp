// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "check/receive_shadow.hpp"
#include "diagnosis/recorder.hpp"
#include "watch/description.hpp"

namespace tutti::preload {

/// A call that the completion of a request ends.
struct RequestedCall {
  tutti::detail::flight::Facts facts{};
  std::string place{};
  Spans sent{};                                            ///< that the program may not change meanwhile
  Spans received{};                                        ///< that it may not use meanwhile
  std::shared_ptr<tutti::detail::ReceiveShadow> shadow{};  ///< of the receive buffer; begun if the call is
  bool is_persistent = false;
  bool is_started = true;
  tutti::detail::flight::Note note{};  ///< of a call that is under way
  std::uint64_t hash = 0;              ///< of `sent` at the start
  bool is_delivered = false;           ///< the receive buffer has what the shadow got
  bool is_over = false;                ///< the program knows that it has ended
  const char* changed = nullptr;       ///< the buffer that was changed too early: "send" or "receive"
  std::uint64_t receive = 0;           ///< its number among the posted ones; 0: none
  /// Tells of a start of a persistent message: describes the send, or posts the receive and returns its number.
  std::function<std::uint64_t()> tell{};
  std::function<void()> withdraw{};  ///< tells the receiver that a send is cancelled
};

/// What is known of a call that has ended.
struct Completed {
  const char* changed = nullptr;  ///< as in RequestedCall
  std::string place{};            ///< of the call
  std::uint64_t receive = 0;      ///< as in RequestedCall
};

/// The requests of the program's calls. Any thread.
class WatchedRequests {
 public:
  /// A request whose call is under way, or a persistent one that is not started.
  void add(MPI_Request request, RequestedCall call);
  /// A persistent one is started, before the MPI starts it. If it shares memory with a call that has not ended, it is
  /// not, and the text says so.
  [[nodiscard]] std::string start(MPI_Request request);
  /// The text for memory that a new call would share with one that has not ended, where one of them writes it; else
  /// empty.
  [[nodiscard]] std::string overlap(const Spans& sent, const Spans& received);
  [[nodiscard]] bool knows(MPI_Request request);
  /// The program waits for it.
  void wait(MPI_Request request);
  /// The MPI has completed it, if it has; `after` is the program's handle afterwards.
  [[nodiscard]] Completed complete(MPI_Request before, MPI_Request after);
  /// The program learns that the MPI has completed it, and goes on with its request: its buffers are the program's
  /// again.
  void tell_end(MPI_Request request);
  /// The program cancels it: whether a message comes is not known any more, neither here nor at the receiver.
  void cancel(MPI_Request request);
  /// The program frees it. Returns true if the request must live on until the MPI has filled the receive buffer; it is
  /// freed then.
  [[nodiscard]] bool forget(MPI_Request request);
  /// Ends those that live on.
  void end_freed();
  /// What the program has not completed or freed, in words.
  [[nodiscard]] std::vector<std::string> left();

 private:
  [[nodiscard]] std::string overlap_with_others(const Spans& sent, const Spans& received) const;
  /// A call gets a handle that is known.
  void share(MPI_Request request, RequestedCall& added);

  std::mutex mutex_{};
  /// Several of one handle: MPICH gives one to all that are complete at once.
  std::multimap<MPI_Request, RequestedCall> all_{};
  std::map<MPI_Request, std::shared_ptr<tutti::detail::ReceiveShadow>> freed_{};
};

[[nodiscard]] WatchedRequests& watched_requests();

/// Under TUTTI_CHECK, before a call: the MPI's code of an error, which the communicator's error handler has had, if the
/// call writes memory that a call which has not ended uses, or reads memory which such a call writes. Local.
[[nodiscard]] int check_overlap(MPI_Comm comm, const Spans& sent, const Spans& received);

/// The same before persistent calls are started, which are recorded as started, while calls are watched.
[[nodiscard]] int start_watched(int count, const MPI_Request* requests);

/// As MPI_Request_get_status says, also of persistent requests that are not active: these are complete.
[[nodiscard]] bool is_complete(MPI_Request request);

}  // namespace tutti::preload
