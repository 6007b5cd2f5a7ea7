// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/link.hpp"

#include <array>
#include <cerrno>

namespace tutti::detail::outofband {

void Link::send(Kind kind, std::span<const std::byte> body) {
  if (sent_ == out_.size()) {
    out_.clear();
    sent_ = 0;
  }
  const FrameHead head{kind, static_cast<std::uint32_t>(body.size())};
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
  constexpr int most_pieces = 16;
  std::array<std::byte, 16384> some;
  for (int i = 0; i < most_pieces; ++i) {
    const std::ptrdiff_t moved = socket_.receive(some);
    if (moved < 0) error_ = errno;
    if (moved <= 0) return moved == 0;
    if (!reader_.read(std::span(some).first(static_cast<std::size_t>(moved)), frames)) return false;
  }
  return true;
}

}  // namespace tutti::detail::outofband
