// SPDX-License-Identifier: BSD-3-Clause
#include "check/messages.hpp"

#include <sched.h>

namespace tutti::detail::check {

std::uint64_t Messages::post(std::uint64_t mark, int source, int tag, bool matches_late) {
  const std::lock_guard lock(mutex_);
  return order_.post(mark, source, tag, matches_late);
}

/// A record is sent before its message, and so may be a moment late, but not long.
std::optional<Record> Messages::take(std::uint64_t mark, int source, int tag, int before) {
  constexpr int most_looks = 10'000;
  for (int i = 0; i < most_looks && !channel_.ignores_messages(mark); ++i) {
    if (auto record = channel_.take_message(mark, source, tag, before)) return record;
    sched_yield();
  }
  return std::nullopt;
}

std::optional<Record> Messages::complete(std::uint64_t mark, std::uint64_t number, int source, int tag) {
  const std::lock_guard lock(mutex_);
  const std::optional<int> before = order_.end(number, source, tag);
  std::optional<Record> record;
  if (before) record = take(mark, source, tag, *before);
  if (!record) channel_.ignore_messages(mark);
  return channel_.ignores_messages(mark) ? std::nullopt : std::move(record);
}

void Messages::end(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  order_.drop(number);
}

void Messages::drop(std::uint64_t mark, std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  order_.drop(number);
  channel_.ignore_messages(mark);
}

}  // namespace tutti::detail::check
