// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "backends/shm/exchange.hpp"
#include "backends/shm/pieces.hpp"

namespace tutti::detail::shm {

/// The buffers of other ranks that one run of an operation has attached. They are looked up once per run, and held
/// until it ends, so that no other thread's call detaches them meanwhile.
class Reached {
 public:
  /// The address, in this process, of a range of a rank's input or output, or null if the range cannot be attached. A
  /// run names the same range of a buffer every time.
  [[nodiscard]] std::byte* find(const Exchange& exchange, int rank, bool output, const ByteRange& range) {
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
  void clear() noexcept { slots_.clear(); }

 private:
  struct Slot {
    AttachmentPtr held{};
    bool is_tried = false;
  };
  std::vector<Slot> slots_;  ///< the input and the output of each rank
};

}  // namespace tutti::detail::shm
