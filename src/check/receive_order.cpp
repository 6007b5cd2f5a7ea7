// SPDX-License-Identifier: BSD-3-Clause
#include "check/receive_order.hpp"

#include <mpi.h>

namespace tutti::detail {

bool ReceiveOrder::Posted::is_wild() const { return source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG; }

bool ReceiveOrder::Posted::may_match(std::uint64_t of, int from, int with) const {
  return mark == of && (source == MPI_ANY_SOURCE || source == from) && (tag == MPI_ANY_TAG || tag == with);
}

std::uint64_t ReceiveOrder::post(std::uint64_t mark, int source, int tag, bool matches_late) {
  open_[++count_] = {mark, source, tag, matches_late};
  return count_;
}

std::optional<int> ReceiveOrder::end(std::uint64_t number, int source, int tag) {
  const auto found = open_.find(number);
  if (found == open_.end()) return std::nullopt;
  const Posted ended = found->second;
  open_.erase(found);
  int before = 0;
  for (const auto& [other, posted] : open_) {
    if (!posted.may_match(ended.mark, source, tag)) continue;
    if (other > number && !ended.matches_late) break;
    if (posted.is_wild() || posted.matches_late || other > number) return std::nullopt;
    ++before;
  }
  return before;
}

}  // namespace tutti::detail
