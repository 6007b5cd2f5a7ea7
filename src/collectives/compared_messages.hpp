// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <tutti/request.hpp>
#include <vector>

#include "call/context.hpp"
#include "call/message_check.hpp"

namespace tutti::detail {

/// The messages of one call in check mode, whose datatypes are compared with those of their receives.
class ComparedMessages {
 public:
  /// call: a literal. matches_late: as ReceiveOrder has it.
  ComparedMessages(ContextPtr comm, std::string_view call, const SiteRecord& site, bool matches_late);
  /// Not after a begin without its end.
  ~ComparedMessages();
  ComparedMessages(const ComparedMessages&) = delete;
  ComparedMessages& operator=(const ComparedMessages&) = delete;

  /// A message of the call. Peer and tag are MPI's.
  void add(bool is_recv, int peer, int tag, Datatype type, std::size_t count);
  /// Before the messages are posted.
  void begin();
  /// After all have ended. status: of the last receive. Throws Error(mismatch).
  void end(const Status& status);
  /// After a failure.
  void give_up() noexcept;

 private:
  struct Message {
    bool is_recv = false;
    int peer = 0;
    MessageRecord record{};
    std::uint64_t number = 0;  ///< of a receive
  };
  [[nodiscard]] MessageCheck& check() const;
  /// The difference of a received message, in words.
  [[nodiscard]] std::string compare(const Message& message, const Status& status, bool is_only) const;

  ContextPtr comm_;
  std::string_view call_;
  SiteRecord site_;
  bool matches_late_;
  bool has_begun_ = false;
  std::vector<Message> messages_{};
};

}  // namespace tutti::detail
