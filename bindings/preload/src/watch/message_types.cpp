// SPDX-License-Identifier: BSD-3-Clause
#include "watch/message_types.hpp"

#include <fmt/format.h>
#include <utility>

#include "diagnosis/site_text.hpp"
#include "types.hpp"

namespace tutti::preload {
namespace {

/// Whether the elements that were sent are elements of a receive; of packed ones, and of those that are not whole,
/// nothing is known.
bool fits(const Signature& sent, const Signature& element) {
  if (!sent.is_known || !element.is_known || element.items == 0 || sent.items % element.items != 0) return true;
  return sent.agrees(repeated(element, sent.items / element.items));
}

std::string place_text(const std::string& place) { return tutti::detail::words_of(place); }

}  // namespace

std::optional<Content> content_of(MPI_Datatype type, MPI_Count count) {
  if (count < 0 || type_of(type) == nullptr) return std::nullopt;
  return Content{signature_of(type, static_cast<std::uint64_t>(count)), type_name(type)};
}

void MessageTypes::send(const Watched& comm, int to, int tag, const Content& content, const std::string& place) {
  if (to < 0 || to >= comm.size()) return;  // the MPI refuses it
  Record record;
  record.mark = comm.mark;
  record.sender = comm.rank;
  record.tag = tag;
  record.all = content.signature;
  put(record.name, comm.text());
  put(record.type, content.type);
  put(record.place, place);
  channel().send(record, comm.world[static_cast<std::size_t>(to)]);
}

std::uint64_t MessageTypes::post(const Watched& comm, int from, int tag, const Content& element,
                                 const std::string& place) {
  const std::uint64_t number = messages_.post(comm.mark, from, tag);
  const std::lock_guard lock(mutex_);
  posted_[number] = {comm.mark, comm.rank, comm.text(), element, place};
  return number;
}

std::optional<MessageTypes::Posted> MessageTypes::take_posted(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = posted_.extract(number);
  return found.empty() ? std::nullopt : std::optional(found.mapped());
}

std::string MessageTypes::complete(std::uint64_t number, const MPI_Status& status) {
  const auto posted = take_posted(number);
  if (!posted) return "";
  int is_cancelled = 0;
  PMPI_Test_cancelled(&status, &is_cancelled);
  if (is_cancelled != 0) {
    messages_.end(number);
    return "";
  }
  const auto come = messages_.complete(posted->mark, number, status.MPI_SOURCE, status.MPI_TAG);
  if (!come) return "";
  const auto record = tutti::detail::check::read<Record>(*come);
  if (fits(record.all, posted->element.signature)) return "";
  return fmt::format(
      "the datatypes of a message with tag {} on {} differ: rank {} sends {} ({} B) {}, rank {} receives {} {}; send "
      "and receive the same datatypes",
      status.MPI_TAG, posted->comm, status.MPI_SOURCE, record.type.data(), record.all.bytes,
      place_text(record.place.data()), posted->rank, posted->element.type, place_text(posted->place));
}

void MessageTypes::drop(std::uint64_t number) {
  if (const auto posted = take_posted(number)) messages_.drop(posted->mark, number);
}

void MessageTypes::take(const Watched& comm, const MPI_Status& status) {
  const std::uint64_t number = post(comm, status.MPI_SOURCE, status.MPI_TAG, {}, {});
  (void)complete(number, status);
}

void MessageTypes::withdraw(const Watched& comm, int to) {
  Record record;
  record.mark = comm.mark;
  record.sender = comm.rank;
  record.is_withdrawn = 1;
  if (to >= 0 && to < comm.size()) channel().send(record, comm.world[static_cast<std::size_t>(to)]);
}

std::vector<std::string> MessageTypes::left() {
  std::vector<std::string> texts;
  for (const auto& come : channel().messages_left()) {
    const auto record = tutti::detail::check::read<Record>(come);
    texts.push_back(fmt::format(
        "the message of rank {} with tag {} on {} ({}, {} B), sent {}, was never received; receive each message",
        record.sender, record.tag, record.name.data(), record.type.data(), record.all.bytes,
        place_text(record.place.data())));
  }
  return texts;
}

// Never destroyed, because MPI may be finalized after the statics of this file.
tutti::detail::check::RecordChannel& channel() {
  static auto* made = new tutti::detail::check::RecordChannel;
  return *made;
}

// Never destroyed, because MPI may be finalized after the statics of this file.
MessageTypes& message_types() {
  static auto* all = new MessageTypes;
  return *all;
}

}  // namespace tutti::preload
