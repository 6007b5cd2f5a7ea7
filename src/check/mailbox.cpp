// SPDX-License-Identifier: BSD-3-Clause
#include "check/mailbox.hpp"

#include <sched.h>

#include <utility>

namespace tutti::detail::check {

void Mailbox::open(MPI_Comm comm) {
  comm_ = comm;
  MPI_Comm_rank(comm_, &rank_);
}

void Mailbox::send(Bytes letter, int to) {
  const std::lock_guard lock(mutex_);
  Letter copy(letter.begin(), letter.end());
  if (comm_ == MPI_COMM_NULL || to == rank_) return keep(std::move(copy));
  look();
  Sent& sent = sent_.emplace_back(Sent{std::move(copy)});
  MPI_Issend(sent.letter.data(), static_cast<int>(sent.letter.size()), MPI_BYTE, to, 0, comm_, &sent.request);
}

void Mailbox::keep(Letter&& letter) {
  const Head head = read<Head>(letter);
  if (head.number != 0)
    calls_[{head.mark, head.number, head.sender}] = std::move(letter);
  else if (head.is_withdrawn != 0)
    ignore(head.mark);
  else if (!ignores(head.mark))
    messages_[{head.mark, head.sender, head.tag}].push_back(std::move(letter));
}

void Mailbox::look() {
  if (comm_ == MPI_COMM_NULL) return;
  for (;;) {
    int found = 0;
    int bytes = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (MPI_Improbe(MPI_ANY_SOURCE, 0, comm_, &found, &message, &status) != MPI_SUCCESS || found == 0) break;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Letter letter(static_cast<std::size_t>(bytes));
    if (MPI_Mrecv(letter.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
    keep(std::move(letter));
  }
  std::erase_if(sent_, [](Sent& sent) {
    int done = 0;
    return MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0;
  });
}

std::optional<Letter> Mailbox::take_call(std::uint64_t mark, std::uint64_t number, int sender) {
  const std::lock_guard lock(mutex_);
  const std::tuple key{mark, number, sender};
  if (!calls_.contains(key)) look();
  auto found = calls_.extract(key);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

std::optional<Letter> Mailbox::take_message(std::uint64_t mark, int sender, int tag, int before) {
  const std::lock_guard lock(mutex_);
  const std::tuple key{mark, sender, tag};
  const auto has_come = [&] {
    const auto found = messages_.find(key);
    return found != messages_.end() && found->second.size() > static_cast<std::size_t>(before);
  };
  if (!has_come()) look();
  if (!has_come()) return std::nullopt;
  std::deque<Letter>& letters = messages_[key];
  Letter letter = std::move(letters[static_cast<std::size_t>(before)]);
  letters.erase(letters.begin() + before);
  if (letters.empty()) messages_.erase(key);
  return letter;
}

std::vector<Letter> Mailbox::messages_left() {
  const std::lock_guard lock(mutex_);
  std::vector<Letter> all;
  for (const auto& [key, letters] : messages_) all.insert(all.end(), letters.begin(), letters.end());
  return all;
}

void Mailbox::ignore(std::uint64_t mark) noexcept {
  try {
    ignored_.insert(mark);
    std::erase_if(messages_, [mark](const auto& entry) { return std::get<0>(entry.first) == mark; });
  } catch (...) {  // no memory to remember one
    ignores_all_ = true;
  }
}

void Mailbox::ignore_messages(std::uint64_t mark) noexcept {
  const std::lock_guard lock(mutex_);
  ignore(mark);
}

void Mailbox::ignore_messages() noexcept {
  const std::lock_guard lock(mutex_);
  ignores_all_ = true;
  messages_.clear();
}

bool Mailbox::ignores_messages(std::uint64_t mark) {
  const std::lock_guard lock(mutex_);
  return ignores(mark);
}

bool Mailbox::are_sent() {
  const std::lock_guard lock(mutex_);
  look();
  return sent_.empty();
}

void Mailbox::settle() {
  const std::lock_guard lock(mutex_);
  for (look(); !sent_.empty(); look()) sched_yield();
  MPI_Request all_sent = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm_, &all_sent);
  for (int done = 0; done == 0; sched_yield()) {
    look();
    if (MPI_Test(&all_sent, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
  }
}

std::shared_ptr<void> Mailbox::close() {
  const std::lock_guard lock(mutex_);
  look();
  comm_ = MPI_COMM_NULL;
  if (sent_.empty()) return nullptr;
  return std::make_shared<std::list<Sent>>(std::exchange(sent_, {}));
}

}  // namespace tutti::detail::check
