// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/neighbor.hpp"

#include <cerrno>

namespace tutti::detail::outofband {

Neighbor::Neighbor(const Card& card, const Acquaintance& acquaintance, Clock::duration limit, Clock::time_point now)
    : card_(card), acquaintance_(acquaintance), limit_(limit), heard_(now) {}

void Neighbor::step(Clock::time_point now, std::vector<Frame>& heard) {
  if (is_over()) return;
  if (!link_ && now - tried_ >= pause) connect(now);
  if (link_) {
    std::vector<Frame> frames;
    bool is_there = link_->receive(frames);
    if (!take(frames, now, heard)) is_there = false;
    if (is_over()) return link_.reset();
    // While something comes, the word that the other one leaves may still come.
    if (is_there && frames.empty()) is_there = link_->flush();
    if (!is_there || (!is_welcome() && now - tried_ > patience)) lose(now);
  }
  const bool was_up = state_ != State::connecting;
  if (!is_over() && was_up && now - heard_ > limit_) {
    state_ = State::ended;
    link_.reset();
  }
}

void Neighbor::connect(Clock::time_point now) {
  tried_ = now;
  Socket socket = card_.count == 0 ? Socket() : Socket::connect(card_.addresses[address_]);
  if (!socket.valid()) {
    if (Socket::lacks_room()) heard_ = now;  // this process, and not the other one, is why nothing is heard
    return lose(now);
  }
  link_.emplace(std::move(socket));
  handshake_.emplace(acquaintance_, card_.process);
  link_->send(handshake_->hello());
}

/// Returns false once it is seen not to be the process that was meant.
bool Neighbor::take(std::span<Frame> frames, Clock::time_point now, std::vector<Frame>& heard) {
  for (Frame& frame : frames) {
    if (!is_welcome()) {
      if (!shake_hands(frame)) return false;
      continue;
    }
    if (frame.kind == Kind::left)
      state_ = State::left;
    else
      heard.push_back(std::move(frame));
  }
  if (!frames.empty() && is_welcome()) heard_ = now;
  return true;
}

bool Neighbor::shake_hands(const Frame& frame) {
  std::optional<Frame> answer;
  if (!handshake_->take(frame, answer)) return false;
  if (answer) link_->send(*answer);
  if (!is_welcome()) return true;
  link_->trust();
  is_new_ = true;
  state_ = State::up;
  return true;
}

void Neighbor::lose(Clock::time_point now) {
  const bool is_refused = link_ && link_->error() == ECONNREFUSED;
  const bool was_welcome = is_welcome();
  link_.reset();
  handshake_.reset();
  if (state_ == State::connecting) {
    address_ = card_.count == 0 ? 0 : (address_ + 1) % card_.count;
    return;
  }
  state_ = is_refused ? State::ended : State::lost;
  // A connection that broke is tried anew at once, so that the end of a process is known without a wait.
  tried_ = was_welcome ? Clock::time_point{} : now;
}

std::string Neighbor::where() const { return card_.count == 0 ? text(card_) : text(card_.addresses[address_]); }

}  // namespace tutti::detail::outofband
