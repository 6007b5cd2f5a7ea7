// SPDX-License-Identifier: BSD-3-Clause
#include "call/message_check.hpp"

#include <fmt/format.h>

#include <optional>

namespace tutti::detail {
namespace {

std::string words_of(const char* does, int rank, const MessageRecord& record) {
  const std::string type = record.type.kind() == DatatypeKind::bytes
                               ? fmt::format("elements of {} bytes", record.type.size())
                               : datatype_name(record.type.kind());
  return with_place(fmt::format("rank {} {} {} (count {})", rank, does, type, record.count), words(record.site));
}

}  // namespace

void MessageCheck::send(int to, const MessageRecord& record) {
  MessageRecord sent = record;
  sent.sender = rank_;
  channel_.send(sent, to);
}

void MessageCheck::withdraw(int to) noexcept {
  try {
    MessageRecord record;
    record.is_withdrawn = 1;
    send(to, record);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the error of the send itself is about to be thrown
  }
}

std::string MessageCheck::complete(std::uint64_t number, int source, int tag, const MessageRecord& mine) {
  const std::optional<check::Record> record = messages_.complete(0, number, source, tag);
  if (!record) return "";
  const auto theirs = check::read<MessageRecord>(*record);
  if (theirs.type.kind() == mine.type.kind()) return "";
  return fmt::format("the datatypes of a message with tag {} differ: {}, {}; send and receive the same datatype", tag,
                     words_of("sends", source, theirs), words_of("receives", rank_, mine));
}

}  // namespace tutti::detail
