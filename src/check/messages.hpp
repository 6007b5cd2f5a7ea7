// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "check/receive_order.hpp"
#include "check/record_channel.hpp"

namespace tutti::detail::check {

/// Finds the record of the message that a receive has taken; the sender has sent it before the message. Where it is
/// left open which of several receives took a message, or a message is withdrawn, this rank ignores the messages of
/// that communicator from then on. Any thread, as far as the MPI allows threads.
class Messages {
 public:
  explicit Messages(RecordChannel& channel) : channel_(channel) {}

  /// Before a receive; its number. Source and tag, and matches_late, as ReceiveOrder has them.
  [[nodiscard]] std::uint64_t post(std::uint64_t mark, int source, int tag, bool matches_late = false);
  /// After it. Nothing if the communicator's messages are ignored.
  [[nodiscard]] std::optional<Record> complete(std::uint64_t mark, std::uint64_t number, int source, int tag);
  /// After a receive that has taken no message.
  void end(std::uint64_t number) noexcept;
  /// After a receive whose message is not known.
  void drop(std::uint64_t mark, std::uint64_t number) noexcept;

 private:
  [[nodiscard]] std::optional<Record> take(std::uint64_t mark, int source, int tag, int before);

  RecordChannel& channel_;
  std::mutex mutex_{};
  ReceiveOrder order_{};
};

}  // namespace tutti::detail::check
