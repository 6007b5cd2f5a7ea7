// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/link.hpp"

#include <array>
#include <cerrno>
#include <cstring>

namespace tutti::detail::outofband {

void Link::send(Kind kind, std::span<const std::byte> body) {
  if (sent_ == out_.size()) {
    out_.clear();
    sent_ = 0;
  }
  const Head head{kind, static_cast<std::uint32_t>(body.size())};
  const auto bytes = std::as_bytes(std::span(&head, 1));
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  out_.insert(out_.end(), body.begin(), body.end());
}

bool Link::flush() noexcept {
  while (has_unsent()) {
    const std::ptrdiff_t moved = socket_.send(std::span(out_).subspan(sent_));
    if (moved < 0) error_ = errno;
    if (moved <= 0) return moved == 0;
    sent_ += static_cast<std::size_t>(moved);
  }
  return true;
}

bool Link::receive(std::vector<Frame>& frames) {
  std::array<std::byte, 16384> some;
  while (true) {
    const std::ptrdiff_t moved = socket_.receive(some);
    if (moved < 0) error_ = errno;
    if (moved <= 0) return take_frames(frames) && moved == 0;
    in_.insert(in_.end(), some.begin(), some.begin() + moved);
    if (in_.size() > std::size_t{most_} + sizeof(Head) + some.size() && !take_frames(frames)) return false;
  }
}

bool Link::take_frames(std::vector<Frame>& frames) {
  std::size_t at = 0;
  Head head{};
  while (in_.size() - at >= sizeof head) {
    std::memcpy(&head, in_.data() + at, sizeof head);
    if (head.bytes > most_) return false;
    if (in_.size() - at - sizeof head < head.bytes) break;
    const auto* body = in_.data() + at + sizeof head;
    frames.push_back({head.kind, {body, body + head.bytes}});
    at += sizeof head + head.bytes;
  }
  in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

}  // namespace tutti::detail::outofband
