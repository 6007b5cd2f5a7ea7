// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "fuzz/mpi/mail.hpp"
#include "fuzz/mpi/running.hpp"

namespace tutti::fuzz::mpi {

/// The parts of a program that are run: those of a failure, to find its smallest form.
struct Selection {
  int phase = -1;          ///< -1: all
  std::vector<int> calls;  ///< of that phase; empty: all
  bool has_messages = true;
};

/// Runs this rank's part of programs in one thread. Throws std::runtime_error where a result differs.
class Player {
 public:
  /// world: all ranks, for this player alone. note(step): the step that this rank comes to.
  Player(MPI_Comm world, std::function<void(std::string)> note);
  void play(const Program& program, const Selection& selection);

 private:
  using Requests = std::vector<MPI_Request>;
  void play_phase(const Phase& phase, std::size_t number, const Selection& selection);
  void take_part(const Phase& phase, const Selection& selection);
  void start_round(int round);
  void start_persistent_calls(int round);
  void wait_round(const Phase& phase);
  void wait_in_some_way();
  void look(int round);
  void fail(const std::string& where, const std::string& problem) const;
  void note(const std::string& step);

  MPI_Comm world_;
  std::function<void(std::string)> note_;
  int rank_ = 0;
  const Program* program_ = nullptr;
  std::size_t phase_ = 0;
  Random random_{0};  ///< of this rank alone
  std::deque<Group> groups_{};
  std::deque<Running> running_{};
  std::deque<End> mail_{};
};

}  // namespace tutti::fuzz::mpi
