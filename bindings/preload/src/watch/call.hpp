// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "diagnosis/recorder.hpp"
#include "report.hpp"
#include "watch/communicators.hpp"
#include "watch/comparison.hpp"
#include "watch/description.hpp"
#include "watch/requests.hpp"
#include "watch/shadow.hpp"
#include "watch/watch.hpp"

namespace tutti::preload {

using tutti::detail::flight::Form;

/// A call of the program, from its begin to its end in the flight recorder.
class WatchedCall {
 public:
  /// A message; peer and tag as MPI has them.
  WatchedCall(tutti::detail::flight::Call call, Form form, MPI_Comm comm, int peer, int tag, MPI_Datatype type,
              MPI_Count count);
  /// A collective, which takes the next number of its communicator.
  WatchedCall(tutti::detail::flight::Call call, Form form, MPI_Comm comm, const Description& description);
  ~WatchedCall();
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;

  /// Compares a collective with those of the other ranks: waits for theirs, or if it is nonblocking only sends its
  /// description. Returns the MPI's code of a difference, which the communicator's error handler has had.
  [[nodiscard]] int compare(const std::string& name, const Description& description);
  /// Leaves the end of the call to the completion of a request. A persistent one is not begun yet. The call has what
  /// only its caller knows: the buffer, and what describes a message to other ranks.
  void hand_over(MPI_Request request, RequestedCall call);
  /// Null for intercommunicators.
  [[nodiscard]] const std::shared_ptr<const Watched>& comm() const { return comm_; }
  [[nodiscard]] const std::string& place() const { return place_; }

 private:
  void begin(const tutti::detail::flight::Facts& facts);

  MPI_Comm handle_;
  Form form_;
  std::string place_;
  std::shared_ptr<const Watched> comm_{};
  tutti::detail::flight::Facts facts_{};
  tutti::detail::flight::Note note_{};
};

/// "MPI_Iallreduce".
[[nodiscard]] std::string mpi_name(Collective which, Form form);

/// Makes a call by the MPI, with other memory for its receive buffer if the call can take that.
template <typename Pass>
int pass_with(const Pass& pass, const OtherMemory& other) {
  if constexpr (std::is_invocable_v<Pass, OtherMemory>)
    return pass(other);
  else
    return pass();
}

/// Makes a collective of the program under TUTTI_CHECK or TUTTI_WATCHDOG. describe(ranks): its description. usual(): as
/// without them; pass(): by the MPI. A call that the MPI refuses is the MPI's.
template <typename Describe, typename Usual, typename Pass>
int watch_collective(Collective which, Form form, MPI_Comm comm, MPI_Request* request, const Describe& describe,
                     const Usual& usual, const Pass& pass) {
  int inter = 0;
  Ranks ranks;
  if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0) return usual();
  PMPI_Comm_rank(comm, &ranks.rank);
  PMPI_Comm_size(comm, &ranks.size);
  const Description description = describe(ranks);
  if (description.is_refused) return pass();
  // A persistent call uses its memory when it is started.
  if (form != Form::init)
    if (const int code = check_overlap(comm, description.sent, description.received); code != MPI_SUCCESS) return code;
  WatchedCall call(which, form, comm, description);
  if (is_checked())
    if (const int code = call.compare(mpi_name(which, form), description); code != MPI_SUCCESS) return code;
  if (!is_checked() || request == nullptr) {
    const int code = is_checked() ? pass_with(pass, {}) : usual();
    if (code == MPI_SUCCESS && request != nullptr) call.hand_over(*request, {});
    watched_requests().end_freed();
    return code;
  }
  RequestedCall requested{
      .sent = description.sent, .received = description.received, .shadow = shadow_of(description.received, form)};
  const int code = pass_with(pass, OtherMemory(requested.shadow.get()));
  if (code == MPI_SUCCESS) call.hand_over(*request, std::move(requested));
  return code;
}

/// Makes another call of all ranks of a communicator, such as a factory of communicators.
template <typename Pass>
int watch_other(tutti::detail::flight::Call which, const char* name, MPI_Comm comm, const Pass& pass) {
  const Description none;
  WatchedCall call(which, Form::blocking, comm, none);
  if (is_checked())
    if (const int code = call.compare(name, none); code != MPI_SUCCESS) return code;
  return pass();
}

/// Makes a factory of communicators, and takes the new one in.
template <typename Pass>
int watch_factory(const char* name, MPI_Comm from, MPI_Comm* made, const Pass& pass) {
  if (!is_watched()) return pass();
  const int code = watch_other(tutti::detail::flight::Call::make_communicator, name, from, pass);
  if (code == MPI_SUCCESS && made != nullptr) communicators().add(*made);
  return code;
}

}  // namespace tutti::preload
