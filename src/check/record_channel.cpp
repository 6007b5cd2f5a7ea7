// SPDX-License-Identifier: BSD-3-Clause
#include "check/record_channel.hpp"

#include <sched.h>

#include <utility>

namespace tutti::detail::check {

void RecordChannel::open(MPI_Comm comm) {
  comm_ = comm;
  MPI_Comm_rank(comm_, &rank_);
}

void RecordChannel::send(Bytes record, int to) {
  const std::lock_guard lock(mutex_);
  Record copy(record.begin(), record.end());
  if (comm_ == MPI_COMM_NULL || to == rank_) return keep(std::move(copy));
  // A rank that only sends looks now and then: each look is a step of the MPI, which may give up the core.
  constexpr std::size_t many = 64;
  if (sent_.size() % many == many - 1) look();
  Sent& sent = sent_.emplace_back(Sent{std::move(copy)});
  MPI_Issend(sent.record.data(), static_cast<int>(sent.record.size()), MPI_BYTE, to, 0, comm_, &sent.request);
}

void RecordChannel::keep(Record&& record) {
  const RecordHead head = read<RecordHead>(record);
  if (head.number != 0)
    calls_[{head.mark, head.number, head.sender}] = std::move(record);
  else if (head.is_withdrawn != 0)
    ignore(head.mark);
  else if (!ignores(head.mark))
    messages_[{head.mark, head.sender, head.tag}].push_back(std::move(record));
}

void RecordChannel::look() {
  if (comm_ == MPI_COMM_NULL) return;
  for (;;) {
    int found = 0;
    int bytes = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (MPI_Improbe(MPI_ANY_SOURCE, 0, comm_, &found, &message, &status) != MPI_SUCCESS || found == 0) break;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Record record(static_cast<std::size_t>(bytes));
    if (MPI_Mrecv(record.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
    keep(std::move(record));
  }
  while (!sent_.empty()) {
    int done = 0;
    if (MPI_Test(&sent_.front().request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done == 0) break;
    sent_.pop_front();
  }
}

std::optional<Record> RecordChannel::take_call(std::uint64_t mark, std::uint64_t number, int sender) {
  const std::lock_guard lock(mutex_);
  const std::tuple key{mark, number, sender};
  if (!calls_.contains(key)) look();
  auto found = calls_.extract(key);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

std::optional<Record> RecordChannel::take_message(std::uint64_t mark, int sender, int tag, int before) {
  const std::lock_guard lock(mutex_);
  const std::tuple key{mark, sender, tag};
  const auto has_come = [&] {
    const auto found = messages_.find(key);
    return found != messages_.end() && found->second.size() > static_cast<std::size_t>(before);
  };
  if (!has_come()) look();
  if (!has_come()) return std::nullopt;
  std::deque<Record>& records = messages_[key];
  Record record = std::move(records[static_cast<std::size_t>(before)]);
  records.erase(records.begin() + before);
  if (records.empty()) messages_.erase(key);
  return record;
}

std::vector<Record> RecordChannel::messages_left() {
  const std::lock_guard lock(mutex_);
  std::vector<Record> all;
  for (const auto& [key, records] : messages_) all.insert(all.end(), records.begin(), records.end());
  return all;
}

void RecordChannel::ignore(std::uint64_t mark) noexcept {
  try {
    ignored_.insert(mark);
    std::erase_if(messages_, [mark](const auto& entry) { return std::get<0>(entry.first) == mark; });
  } catch (...) {  // no memory to remember one
    ignores_all_ = true;
  }
}

void RecordChannel::ignore_messages(std::uint64_t mark) noexcept {
  const std::lock_guard lock(mutex_);
  ignore(mark);
}

void RecordChannel::ignore_messages() noexcept {
  const std::lock_guard lock(mutex_);
  ignores_all_ = true;
  messages_.clear();
}

bool RecordChannel::ignores_messages(std::uint64_t mark) {
  const std::lock_guard lock(mutex_);
  return ignores(mark);
}

bool RecordChannel::are_sent() {
  const std::lock_guard lock(mutex_);
  look();
  return sent_.empty();
}

void RecordChannel::settle() {
  const std::lock_guard lock(mutex_);
  for (look(); !sent_.empty(); look()) sched_yield();
  MPI_Request all_sent = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm_, &all_sent);
  for (int done = 0; done == 0; sched_yield()) {
    look();
    if (MPI_Test(&all_sent, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
  }
}

std::shared_ptr<void> RecordChannel::close() {
  const std::lock_guard lock(mutex_);
  look();
  comm_ = MPI_COMM_NULL;
  if (sent_.empty()) return nullptr;
  auto unsent = std::make_shared<std::list<Sent>>();
  unsent->swap(sent_);
  return unsent;
}

}  // namespace tutti::detail::check
