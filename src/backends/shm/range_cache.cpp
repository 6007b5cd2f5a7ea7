// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/range_cache.hpp"

#include <algorithm>
#include <iterator>

namespace tutti::detail::shm {

AttachmentPtr RangeCache::make(std::uint64_t begin, std::uint64_t end) const {
  std::byte* here = functions_.attach(begin, end - begin);
  return here == nullptr ? nullptr : std::make_shared<const Attachment>(begin, end, here, functions_.detach);
}

RangeCache::Entries::iterator RangeCache::first_that_meets(std::uint64_t begin) {
  auto next = entries_.upper_bound(begin);
  if (next != entries_.begin() && std::prev(next)->second.range->end() >= begin) --next;
  return next;
}

bool RangeCache::drop_one() {
  auto oldest = entries_.end();
  for (auto at = entries_.begin(); at != entries_.end(); ++at)
    if (at->second.range.use_count() == 1 &&
        (oldest == entries_.end() || at->second.last_use < oldest->second.last_use))
      oldest = at;
  if (oldest == entries_.end()) return false;
  entries_.erase(oldest);
  return true;
}

AttachmentPtr RangeCache::find(std::uint64_t address, std::size_t bytes) {
  const std::uint64_t begin = address / page_ * page_;
  const std::uint64_t end = (address + bytes + page_ - 1) / page_ * page_;
  const std::lock_guard lock(mutex_);
  const auto first = first_that_meets(begin);
  if (first != entries_.end() && first->second.range->holds(begin, end)) {
    first->second.last_use = ++uses_;
    return first->second.range;
  }
  if (functions_.exists && !functions_.exists(address, bytes)) return nullptr;
  std::uint64_t low = begin;
  std::uint64_t high = end;
  auto last = first;
  for (; last != entries_.end() && last->first <= high; ++last) {
    low = std::min(low, last->first);
    high = std::max(high, last->second.range->end());
  }
  AttachmentPtr made = make(low, high);
  // A union may fail where the range alone does not; it then serves this use only, as ranges here do not overlap.
  if (made == nullptr) return first == last ? nullptr : make(begin, end);
  entries_.erase(first, last);
  while (entries_.size() >= most_ && drop_one()) {
  }
  entries_[low] = {made, ++uses_};
  return made;
}

std::size_t RangeCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace tutti::detail::shm
