// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/reached.hpp"

namespace tutti::detail::shm {

std::byte* Reached::find(const Exchange& exchange, int rank, bool output, const ByteRange& range) {
  if (!exchange.arena->mapped_copy() || range.bytes == 0) return nullptr;
  if (slots_.empty()) slots_.resize(2 * static_cast<std::size_t>(exchange.arena->size()));
  const std::size_t first = 2 * static_cast<std::size_t>(rank);
  Slot& slot = slots_[first + (output ? 1 : 0)];
  const Slot& other = slots_[first + (output ? 0 : 1)];
  const Descriptor& descriptor = exchange.descriptor(rank);
  const std::uint64_t begin = (output ? descriptor.output : descriptor.input).address + range.offset;
  if (!slot.is_tried) {
    // In place both are one buffer, which a combination must see at one address.
    const bool is_same = other.held != nullptr && other.held->holds(begin, begin + range.bytes);
    slot.held = is_same ? other.held : exchange.arena->peer(rank).attach(begin, range.bytes);
    slot.is_tried = true;
  }
  return slot.held == nullptr || !slot.held->holds(begin, begin + range.bytes) ? nullptr : slot.held->at(begin);
}

}  // namespace tutti::detail::shm
