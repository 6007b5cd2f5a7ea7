// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "core/hash.hpp"

namespace tutti::detail::check {

/// The begin of a record: which collective or message it describes. The facts that ranks compare follow it.
struct RecordHead {
  std::uint64_t mark = 0;         ///< of the communicator
  std::uint64_t number = 0;       ///< of a collective, from 1; 0: a message
  std::int32_t sender = 0;        ///< its rank
  std::int32_t tag = 0;           ///< of a message
  std::int32_t is_withdrawn = 0;  ///< 1: a message of the sender on this communicator has failed, or is cancelled
};

/// The bytes of a RecordHead and what follows it.
using Record = std::vector<std::byte>;

/// Sends records between ranks, on a communicator of their own, so that they pass each message of the program. They go
/// synchronously: once a send is complete the receiver has the record. No function but settle() blocks. An error
/// of the host MPI loses a record; whoever waits for it compares no more. Any thread, as far as the MPI allows threads.
class RecordChannel {
 public:
  /// comm: private, with MPI_ERRORS_RETURN; not owned.
  void open(MPI_Comm comm);
  /// Begins with a RecordHead.
  void send(Bytes record, int to);
  template <typename Facts>
  void send(const Facts& record, int to) {
    send(std::as_bytes(std::span(&record, 1)), to);
  }
  /// Takes the record of a rank about a collective, once it has come.
  [[nodiscard]] std::optional<Record> take_call(std::uint64_t mark, std::uint64_t number, int sender);
  /// The same for a message: of those that have come, the one after so many others.
  [[nodiscard]] std::optional<Record> take_message(std::uint64_t mark, int sender, int tag, int before);
  /// Records of messages that nobody has taken.
  [[nodiscard]] std::vector<Record> messages_left();
  /// Forgets the records of messages of a communicator, now and later; so does one that is withdrawn.
  void ignore_messages(std::uint64_t mark) noexcept;
  /// The same for all communicators.
  void ignore_messages() noexcept;
  [[nodiscard]] bool ignores_messages(std::uint64_t mark);
  /// Whether all records of this rank have been received.
  [[nodiscard]] bool are_sent();
  /// Waits until all records of all ranks have come. Collective, blocking; no record is sent afterwards.
  void settle();
  /// Ends the use of MPI. Null, or memory from which records are still sent: keep it, and the communicator, because
  /// they must not reach another one.
  [[nodiscard]] std::shared_ptr<void> close();

 private:
  struct Sent {
    Record record;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  void keep(Record&& record);
  void look();
  [[nodiscard]] bool ignores(std::uint64_t mark) const { return ignores_all_ || ignored_.contains(mark); }
  void ignore(std::uint64_t mark) noexcept;

  std::mutex mutex_{};
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::list<Sent> sent_{};
  bool ignores_all_ = false;
  std::set<std::uint64_t> ignored_{};                                             ///< by mark
  std::map<std::tuple<std::uint64_t, std::uint64_t, int>, Record> calls_{};       ///< by mark, number and sender
  std::map<std::tuple<std::uint64_t, int, int>, std::deque<Record>> messages_{};  ///< by mark, sender and tag
};

/// The begin of a record as a RecordHead, or as a type that is derived from it.
template <typename Facts>
[[nodiscard]] Facts read(const Record& record) {
  Facts facts;
  std::memcpy(static_cast<void*>(&facts), record.data(), sizeof facts);
  return facts;
}

}  // namespace tutti::detail::check
