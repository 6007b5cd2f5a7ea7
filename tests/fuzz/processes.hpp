// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "fuzz/player.hpp"
#include "fuzz/watchdog.hpp"

namespace tutti::fuzz {

/// Every rank is a process, with a watchdog.
class Processes final : public World {
 public:
  Processes(int rank, double hang) : watchdog_(rank, hang), all_(Communicator::duplicate(MPI_COMM_WORLD)) {}

  [[nodiscard]] const Communicator& all() const override { return all_; }
  [[nodiscard]] Member make_member(const Program& program, std::size_t group) override;
  void note(std::string step) override { watchdog_.note(std::move(step)); }

 private:
  Watchdog watchdog_;
  Communicator all_;
};

}  // namespace tutti::fuzz
