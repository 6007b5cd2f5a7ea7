// SPDX-License-Identifier: BSD-3-Clause
#include "watch/mailbox.hpp"

#include <sched.h>

namespace tutti::preload {

void Mailbox::open() {
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  int size = 0;
  PMPI_Comm_size(comm_, &size);
  sent_to_.resize(static_cast<std::size_t>(size));
  receive();
}

void Mailbox::settle() {
  const std::lock_guard lock(mutex_);
  std::int32_t expected = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ireduce_scatter_block(sent_to_.data(), &expected, 1, MPI_INT32_T, MPI_SUM, comm_, &request);
  for (int is_known = 0; is_known == 0 || received_ < expected || !sent_.empty(); sched_yield()) {
    if (is_known == 0) PMPI_Test(&request, &is_known, MPI_STATUS_IGNORE);
    look();
  }
}

void Mailbox::close() {
  const std::lock_guard lock(mutex_);
  PMPI_Cancel(&arrival_);
  PMPI_Wait(&arrival_, MPI_STATUS_IGNORE);
  PMPI_Comm_free(&comm_);
}

void Mailbox::receive() { PMPI_Irecv(&arriving_, sizeof arriving_, MPI_BYTE, MPI_ANY_SOURCE, 0, comm_, &arrival_); }

void Mailbox::send(const Letter& letter, int to) {
  const std::lock_guard lock(mutex_);
  ++sent_to_[static_cast<std::size_t>(to)];
  Sent& sent = sent_.emplace_back(Sent{letter});
  PMPI_Isend(&sent.letter, sizeof sent.letter, MPI_BYTE, to, 0, comm_, &sent.request);
}

void Mailbox::look() {
  for (int flag = 1; flag != 0;) {
    if (PMPI_Test(&arrival_, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag == 0) break;
    if (arriving_.is_withdrawn != 0)
      withdrawn_.insert(arriving_.mark);
    else if (arriving_.sequence != 0)
      come_[{arriving_.mark, arriving_.sequence, arriving_.sender}] = arriving_;
    else
      messages_[{arriving_.mark, arriving_.sender, arriving_.tag}].push_back(arriving_);
    ++received_;
    receive();
  }
  while (!sent_.empty()) {
    int flag = 0;
    PMPI_Test(&sent_.front().request, &flag, MPI_STATUS_IGNORE);
    if (flag == 0) break;
    sent_.pop_front();
  }
}

std::optional<Letter> Mailbox::take(std::uint64_t mark, std::uint32_t sequence, int sender) {
  const std::lock_guard lock(mutex_);
  const std::tuple key{mark, sequence, sender};
  auto found = come_.find(key);
  if (found == come_.end()) {
    look();
    found = come_.find(key);
  }
  if (found == come_.end()) return std::nullopt;
  const Letter letter = found->second;
  come_.erase(found);
  return letter;
}

std::optional<Letter> Mailbox::take_message(std::uint64_t mark, int sender, int tag, int before) {
  const std::lock_guard lock(mutex_);
  const std::tuple key{mark, sender, tag};
  auto found = messages_.find(key);
  if (found == messages_.end() || found->second.size() <= static_cast<std::size_t>(before)) {
    look();
    found = messages_.find(key);
  }
  if (found == messages_.end() || found->second.size() <= static_cast<std::size_t>(before)) return std::nullopt;
  const auto at = found->second.begin() + before;
  const Letter letter = *at;
  found->second.erase(at);
  if (found->second.empty()) messages_.erase(found);
  return letter;
}

bool Mailbox::is_withdrawn(std::uint64_t mark) {
  const std::lock_guard lock(mutex_);
  return withdrawn_.count(mark) != 0;
}

std::vector<Letter> Mailbox::messages_left() {
  const std::lock_guard lock(mutex_);
  std::vector<Letter> all;
  for (const auto& [key, letters] : messages_) all.insert(all.end(), letters.begin(), letters.end());
  return all;
}

// Never destroyed, because MPI may be finalized after the statics of this file.
Mailbox& mailbox() {
  static auto* made = new Mailbox;
  return *made;
}

}  // namespace tutti::preload
