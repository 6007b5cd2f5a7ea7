// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz/running.hpp"

namespace tutti::fuzz {

/// What a program is played in: this rank's communicators, and the place where its steps are noted.
class World {
 public:
  World() = default;
  virtual ~World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// The communicator of all ranks.
  [[nodiscard]] virtual const Communicator& all() const = 0;
  /// This rank's part of a group of the program; without a communicator on a rank that is not in it. Collective.
  [[nodiscard]] virtual Member make_member(const Program& program, std::size_t group) = 0;
  /// The step that this rank comes to.
  virtual void note(std::string step) = 0;
};

/// A result differs from the prediction.
class WrongResult : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The parts of a program that are run: those of a failure, to find its smallest form.
struct Selection {
  int phase = -1;          ///< -1: all
  std::vector<int> calls;  ///< of that phase; empty: all

  [[nodiscard]] bool has(std::size_t phase_number) const {
    return phase < 0 || static_cast<std::size_t>(phase) == phase_number;
  }
};

/// Runs this rank's part of programs. Throws WrongResult with phase and call if a result is wrong, and the Error of a
/// call that fails.
class Player {
 public:
  Player(const Setting& setting, World& world) : setting_(setting), world_(world) {}
  void play(const Program& program, const Selection& selection);
  /// After a call has failed: what is wrong with the memory that none of its calls may change; "" if nothing is.
  [[nodiscard]] std::string verify_surroundings() const;

 private:
  void make_members(const Program& program);
  void play_phase(std::size_t number, const Selection& selection);
  void start_round(int round);
  void wait_round();
  void wait_in_some_way(std::vector<Running*>& active);
  void verify(Running& running);
  void note(const std::string& step);

  const Setting setting_;
  World& world_;
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
