// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/neighbor.hpp"

#include <fmt/format.h>

#include <cerrno>

namespace tutti::detail::outofband {

Neighbor::Neighbor(const Card& card, const Acquaintance& acquaintance, Clock::duration limit, Clock::time_point now)
    : card_(card), acquaintance_(acquaintance), limit_(limit), heard_(now) {}

void Neighbor::step(Clock::time_point now, std::vector<Frame>& heard) {
  if (is_over()) return;
  if (!link_ && now - tried_ >= pause) connect(now);
  if (link_) {
    std::vector<Frame> frames;
    const bool is_there = link_->receive(frames) && link_->flush();
    take(std::move(frames), now, heard);
    if (is_over()) return link_.reset();
    if (!is_there || (!is_welcome_ && now - tried_ > patience)) lose(now);
  }
  const bool was_up = state_ != State::connecting;
  if (!is_over() && was_up && now - heard_ > limit_) {
    state_ = State::ended;
    link_.reset();
  }
}

void Neighbor::connect(Clock::time_point now) {
  tried_ = now;
  is_welcome_ = false;
  Socket socket = Socket::connect(card_.addresses[address_], card_.port);
  if (!socket.valid()) {
    if (Socket::lacks_room()) heard_ = now;  // this process, and not the other one, is why nothing is heard
    return lose(now);
  }
  link_.emplace(std::move(socket));
  link_->expect(Link::most_bytes);
  link_->send(Kind::hello, Hello{acquaintance_.token, acquaintance_.own, card_.process});
}

void Neighbor::take(std::vector<Frame>&& frames, Clock::time_point now, std::vector<Frame>& heard) {
  for (Frame& frame : frames) {
    heard_ = now;
    if (frame.kind == Kind::welcome) {
      is_welcome_ = true;
      is_new_ = true;
      state_ = State::up;
    } else if (frame.kind == Kind::left) {
      state_ = State::left;
    } else {
      heard.push_back(std::move(frame));
    }
  }
}

void Neighbor::lose(Clock::time_point now) {
  const bool is_refused = link_ && link_->error() == ECONNREFUSED;
  const bool was_welcome = is_welcome_;
  link_.reset();
  is_welcome_ = false;
  if (state_ == State::connecting) {
    address_ = card_.count == 0 ? 0 : (address_ + 1) % card_.count;
    return;
  }
  state_ = is_refused ? State::ended : State::lost;
  // A connection that broke is tried anew at once, so that the end of a process is known without a wait.
  tried_ = was_welcome ? Clock::time_point{} : now;
}

std::string Neighbor::where() const {
  return fmt::format("{} port {}", card_.count == 0 ? "no address" : text(card_.addresses[address_]), card_.port);
}

}  // namespace tutti::detail::outofband
