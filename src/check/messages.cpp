// SPDX-License-Identifier: BSD-3-Clause
#include "check/messages.hpp"

#include <sched.h>

namespace tutti::detail::check {

std::uint64_t Messages::post(std::uint64_t mark, int source, int tag, bool matches_late) {
  const std::lock_guard lock(mutex_);
  return order_.post(mark, source, tag, matches_late);
}

/// A letter is sent before its message, and so may be a moment late, but not long.
std::optional<Letter> Messages::take(std::uint64_t mark, int source, int tag, int before) {
  constexpr int most_looks = 10'000;
  for (int i = 0; i < most_looks && !mailbox_.ignores_messages(mark); ++i) {
    if (auto letter = mailbox_.take_message(mark, source, tag, before)) return letter;
    sched_yield();
  }
  return std::nullopt;
}

std::optional<Letter> Messages::complete(std::uint64_t mark, std::uint64_t number, int source, int tag) {
  const std::lock_guard lock(mutex_);
  const std::optional<int> before = order_.end(number, source, tag);
  std::optional<Letter> letter;
  if (before) letter = take(mark, source, tag, *before);
  if (!letter) mailbox_.ignore_messages(mark);
  return mailbox_.ignores_messages(mark) ? std::nullopt : std::move(letter);
}

void Messages::end(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  order_.drop(number);
}

void Messages::drop(std::uint64_t mark, std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  order_.drop(number);
  mailbox_.ignore_messages(mark);
}

}  // namespace tutti::detail::check
