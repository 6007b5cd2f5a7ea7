// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/compared_messages.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <string>
#include <tutti/error.hpp>
#include <utility>

#include "call/check.hpp"

namespace tutti::detail {

ComparedMessages::ComparedMessages(ContextPtr comm, std::string_view call, const SiteRecord& site, bool matches_late)
    : comm_(std::move(comm)), call_(call), site_(site), matches_late_(matches_late) {}

ComparedMessages::~ComparedMessages() { give_up(); }

MessageCheck& ComparedMessages::check() const { return comm_->check->messages(); }

void ComparedMessages::add(bool is_recv, int peer, int tag, Datatype type, std::size_t count) {
  if (peer != MPI_PROC_NULL) messages_.push_back({is_recv, peer, {{.tag = tag}, count, type, site_}});
}

void ComparedMessages::begin() {
  give_up();
  has_begun_ = true;
  for (Message& message : messages_) {
    if (message.is_recv)
      message.number = check().post(message.peer, message.record.tag, matches_late_);
    else
      check().send(message.peer, message.record);
  }
}

std::string ComparedMessages::compare(const Message& message, const Status& status, bool is_only) const {
  const bool is_wild = message.peer == MPI_ANY_SOURCE || message.record.tag == MPI_ANY_TAG;
  if (is_only) return check().complete(message.number, status.source, status.tag, message.record);
  if (!is_wild) return check().complete(message.number, message.peer, message.record.tag, message.record);
  check().drop(message.number);
  return {};
}

void ComparedMessages::end(const Status& status) {
  if (!std::exchange(has_begun_, false)) return;
  const auto receives = std::count_if(messages_.begin(), messages_.end(), [](const Message& m) { return m.is_recv; });
  std::string difference;
  for (const Message& message : messages_) {
    if (!message.is_recv) continue;
    std::string words = compare(message, status, receives == 1);
    if (difference.empty()) difference = std::move(words);
  }
  if (!difference.empty())
    throw Error(ErrorCode::mismatch, fmt::format("{}, {}: {}", call_, comm_->describe(), difference));
}

void ComparedMessages::give_up() noexcept {
  if (!std::exchange(has_begun_, false)) return;
  for (const Message& message : messages_) {
    if (message.is_recv)
      check().drop(message.number);
    else
      check().withdraw(message.peer);
  }
}

}  // namespace tutti::detail
