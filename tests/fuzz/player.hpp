// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <vector>

#include "fuzz/running.hpp"
#include "fuzz/watchdog.hpp"

namespace tutti::fuzz {

/// The parts of a program that are run: those of a failure, to find its smallest form.
struct Selection {
  int phase = -1;          ///< -1: all
  std::vector<int> calls;  ///< of that phase; empty: all

  [[nodiscard]] bool has(std::size_t phase_number) const {
    return phase < 0 || static_cast<std::size_t>(phase) == phase_number;
  }
};

/// Runs this rank's part of programs. Throws std::runtime_error with phase and call if a result is wrong.
class Player {
 public:
  Player(const Setting& setting, Watchdog& watchdog);
  void play(const Program& program, const Selection& selection);

 private:
  void make_members(const Program& program);
  void play_phase(std::size_t number, const Selection& selection);
  void start_round(int round);
  void wait_round();
  void wait_in_some_way(std::vector<Running*>& active);
  void verify(Running& running);
  void note(const std::string& step);

  const Setting setting_;
  Watchdog& watchdog_;
  Communicator world_;
  const Program* program_ = nullptr;
  const Phase* phase_ = nullptr;
  std::size_t phase_number_ = 0;
  Random random_{0};  ///< of this rank alone
  std::vector<Member> members_;
  std::deque<Running> running_;
  std::vector<Running*> active_;
  std::vector<char> message_;
};

}  // namespace tutti::fuzz
