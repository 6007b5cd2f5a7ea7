// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <tutti/datatype.hpp>

#include "check/messages.hpp"
#include "check/record_channel.hpp"
#include "diagnosis/site.hpp"

namespace tutti::detail {

/// A message as its sender describes it to the receiver, or a receive.
struct MessageRecord : check::RecordHead {
  std::uint64_t count = 0;  ///< elements
  Datatype type{};
  SiteRecord site{};
};

/// Compares the datatypes of the messages of a communicator in check mode. Any thread.
class MessageCheck {
 public:
  MessageCheck(check::RecordChannel& channel, int rank) : channel_(channel), messages_(channel), rank_(rank) {}

  /// Before the send of a message.
  void send(int to, const MessageRecord& record);
  /// After a send that has failed.
  void withdraw(int to) noexcept;
  /// Before a receive; its number. Source and tag, and matches_late, as ReceiveOrder has them.
  [[nodiscard]] std::uint64_t post(int source, int tag, bool matches_late) {
    return messages_.post(0, source, tag, matches_late);
  }
  /// After it. Returns the difference in words; empty if there is none.
  [[nodiscard]] std::string complete(std::uint64_t number, int source, int tag, const MessageRecord& mine);
  /// After a receive whose message is not known.
  void drop(std::uint64_t number) noexcept { messages_.drop(0, number); }

 private:
  check::RecordChannel& channel_;
  check::Messages messages_;
  int rank_;
};

}  // namespace tutti::detail
