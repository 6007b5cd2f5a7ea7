// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <vector>

#include "algorithms/symbolic.hpp"
#include "algorithms/world.hpp"

namespace tutti::algorithms {

/// What is wrong with a schedule.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// All ranks of one collective in one process, on symbols: the checker's engine.
class Simulation {
 public:
  /// The references must outlive the simulation.
  Simulation(const World& world, const std::vector<Schedule>& schedules, bool in_place);

  /// Runs all to the end. Throws Fault.
  void run();
  /// What an element of a rank's output holds; without runs if it was never written.
  [[nodiscard]] const Symbol& result(int rank, std::size_t index) const;
  [[nodiscard]] bool is_untouched(int rank, std::size_t index) const;

 private:
  /// The other end of a transfer.
  struct End {
    int rank = 0;
    std::size_t round = 0;
    std::size_t index = 0;
  };
  /// Cells of input, output and scratch; in place, the first two are parts of one.
  struct Rank {
    std::vector<Symbols::Id> cells;
    std::vector<Symbols::Id> output_at_start;
    std::size_t base[3] = {0, 0, 0};
    std::size_t count[3] = {0, 0, 0};
    std::vector<std::vector<End>> ends;  ///< by round and transfer
    std::size_t posted = 0;              ///< rounds
    std::size_t pending = 0;             ///< transfers of the last posted round
    std::vector<char> heard;             ///< of a barrier: the ranks that are known to have entered
    std::vector<char> hears;
  };

  void place(int rank, bool in_place);
  void match();
  void check_round(int rank, std::size_t round) const;
  void check_slice(int rank, const Slice& slice, bool writes) const;
  void check_overlaps(int rank, const Round& round) const;
  void post(int rank);
  void deliver(int sender, int receiver, const Transfer& send, const Transfer& recv);
  void finish_round(int rank);
  void run_local(int rank, const Local& local);
  void check_end() const;
  [[nodiscard]] std::size_t address(int rank, const Slice& slice) const;
  [[nodiscard]] Symbols::Id read(int rank, const Slice& slice, std::size_t i) const;

  const World& world_;
  const std::vector<Schedule>& schedules_;
  Symbols symbols_;
  std::vector<Rank> ranks_;
  std::vector<int> ready_;
};

}  // namespace tutti::algorithms
