// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tutti/datatype.hpp>
#include <utility>

#include "call/late_communicator.hpp"
#include "diagnosis/receive_order.hpp"
#include "diagnosis/site.hpp"

namespace tutti::detail {

struct Context;

/// A message as its sender describes it to the receiver, or a receive.
struct MessageRecord {
  std::int32_t tag = 0;
  std::int32_t is_withdrawn = 0;  ///< 1: the send has failed
  std::uint64_t count = 0;        ///< elements
  Datatype type{};
  SiteRecord site{};
};

/// Compares the datatypes of the messages of a communicator in check mode: before a send, its record goes to the
/// receiver, and a receive that has ended takes the record of its message. Where it is left open which of several
/// receives took a message, or a message has failed, this rank compares no more messages of this communicator. Any
/// thread, as far as the MPI allows threads.
class MessageCheck {
 public:
  /// Collective, blocking.
  explicit MessageCheck(const Context& context);
  ~MessageCheck();
  MessageCheck(const MessageCheck&) = delete;
  MessageCheck& operator=(const MessageCheck&) = delete;

  /// Before the send of a message.
  void send(int to, const MessageRecord& record);
  /// After a send that has failed.
  void withdraw(int to) noexcept;
  /// Before a receive; its number. Source and tag, and matches_late, as ReceiveOrder has them.
  [[nodiscard]] std::uint64_t post(int source, int tag, bool matches_late);
  /// After it. Returns the difference in words; empty if there is none.
  [[nodiscard]] std::string complete(std::uint64_t number, int source, int tag, const MessageRecord& mine);
  /// After a receive whose message is not known.
  void drop(std::uint64_t number) noexcept;
  /// Ends the use of MPI.
  void close() noexcept;

 private:
  struct Sent;
  [[nodiscard]] std::optional<MessageRecord> take(int source, int tag, int before);
  void look();
  void keep(int source, const MessageRecord& record);
  void stop() noexcept;

  int rank_;
  LateCommunicator comm_{"the messages of check mode"};
  std::mutex mutex_{};
  std::list<Sent> sent_;
  std::map<std::pair<int, int>, std::deque<MessageRecord>> come_{};  ///< by source and tag
  ReceiveOrder order_{};
  bool is_stopped_ = false;
};

}  // namespace tutti::detail
