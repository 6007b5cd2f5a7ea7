// SPDX-License-Identifier: BSD-3-Clause
#include "call/message_check.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {
namespace {

std::string words_of(const char* does, int rank, const MessageRecord& record) {
  const std::string type = record.type.kind() == DatatypeKind::bytes
                               ? fmt::format("elements of {} bytes", record.type.size())
                               : datatype_name(record.type.kind());
  const std::string place = words(record.site);
  return fmt::format("rank {} {} {} (count {}){}{}", rank, does, type, record.count, place.empty() ? "" : " ", place);
}

}  // namespace

/// Sent synchronously: once a request is complete the receiver has the record.
struct MessageCheck::Sent {
  MessageRecord record;
  MPI_Request request = MPI_REQUEST_NULL;

  [[nodiscard]] bool is_done() {
    int done = 0;
    return MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0;
  }
};

MessageCheck::MessageCheck(const Context& context) : rank_(context.rank) {
  if (context.size == 1) return;
  comm_.begin(context.point_to_point);
  comm_.wait();
}

MessageCheck::~MessageCheck() { close(); }

void MessageCheck::send(int to, const MessageRecord& record) {
  const std::lock_guard lock(mutex_);
  if (to == rank_) return keep(to, record);
  look();
  Sent& sent = sent_.emplace_back(Sent{record});
  check_mpi(MPI_Issend(&sent.record, sizeof sent.record, MPI_BYTE, to, 0, comm_.get(), &sent.request), "MPI_Issend");
}

void MessageCheck::withdraw(int to) noexcept {
  try {
    MessageRecord record;
    record.is_withdrawn = 1;
    send(to, record);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the error of the send itself is about to be thrown
  }
}

void MessageCheck::keep(int source, const MessageRecord& record) {
  if (record.is_withdrawn != 0) return stop();
  if (!is_stopped_) come_[{source, record.tag}].push_back(record);
}

void MessageCheck::stop() noexcept {
  is_stopped_ = true;
  come_.clear();
}

void MessageCheck::look() {
  while (comm_.get() != MPI_COMM_NULL) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    check_mpi(MPI_Improbe(MPI_ANY_SOURCE, 0, comm_.get(), &found, &message, &status), "MPI_Improbe");
    if (found == 0) break;
    MessageRecord record;
    check_mpi(MPI_Mrecv(&record, sizeof record, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
    keep(status.MPI_SOURCE, record);
  }
  while (!sent_.empty() && sent_.front().is_done()) sent_.pop_front();
}

std::uint64_t MessageCheck::post(int source, int tag, bool matches_late) {
  const std::lock_guard lock(mutex_);
  return order_.post(0, source, tag, matches_late);
}

/// A record is sent before its message, and so may be a moment late, but not long.
std::optional<MessageRecord> MessageCheck::take(int source, int tag, int before) {
  constexpr int most_looks = 10'000;
  const auto place = static_cast<std::size_t>(before);
  for (int i = 0; i < most_looks && !is_stopped_; ++i) {
    const auto found = come_.find({source, tag});
    if (found != come_.end() && found->second.size() > place) {
      const MessageRecord record = found->second[place];
      found->second.erase(found->second.begin() + before);
      if (found->second.empty()) come_.erase(found);
      return record;
    }
    if (i > 0) sched_yield();
    look();
  }
  return std::nullopt;
}

std::string MessageCheck::complete(std::uint64_t number, int source, int tag, const MessageRecord& mine) {
  std::optional<MessageRecord> theirs;
  {
    const std::lock_guard lock(mutex_);
    const auto before = order_.end(number, source, tag);
    look();
    if (is_stopped_) return "";
    if (before) theirs = take(source, tag, *before);
    if (!theirs) stop();
  }
  if (!theirs || theirs->type.kind() == mine.type.kind()) return "";
  return fmt::format("the datatypes of a message with tag {} differ: {}, {}; send and receive the same datatype", tag,
                     words_of("sends", source, *theirs), words_of("receives", rank_, mine));
}

void MessageCheck::drop(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  order_.drop(number);
  stop();
}

void MessageCheck::close() noexcept {
  const std::lock_guard lock(mutex_);
  if (comm_.get() == MPI_COMM_NULL || !mpi_is_usable()) return;
  try {
    look();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the communicator is kept then
  }
  std::erase_if(sent_, [](Sent& sent) { return sent.is_done(); });
  // Otherwise the communicator is kept for ever, because its messages must not reach another one.
  if (sent_.empty())
    comm_.free();
  else
    defer_free(std::exchange(sent_, {}));
}

}  // namespace tutti::detail
