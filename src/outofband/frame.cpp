// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/frame.hpp"

#include <cstring>

namespace tutti::detail::outofband {

bool FrameReader::read(std::span<const std::byte> some, std::vector<Frame>& frames) {
  kept_.insert(kept_.end(), some.begin(), some.end());
  std::size_t at = 0;
  FrameHead head{};
  while (kept_.size() - at >= sizeof head) {
    std::memcpy(&head, kept_.data() + at, sizeof head);
    if (head.bytes > most_) return false;
    if (kept_.size() - at - sizeof head < head.bytes) break;
    const auto* body = kept_.data() + at + sizeof head;
    frames.push_back({head.kind, {body, body + head.bytes}});
    at += sizeof head + head.bytes;
  }
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

}  // namespace tutti::detail::outofband
