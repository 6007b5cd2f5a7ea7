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
  [[nodiscard]] std::byte* find(const Exchange& exchange, int rank, bool output, const ByteRange& range);
  void clear() noexcept { slots_.clear(); }

 private:
  struct Slot {
    AttachmentPtr held{};
    bool is_tried = false;
  };
  std::vector<Slot> slots_;  ///< the input and the output of each rank
};

}  // namespace tutti::detail::shm
