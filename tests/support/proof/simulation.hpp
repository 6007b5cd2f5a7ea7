// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "support/proof/fault.hpp"
#include "support/proof/rendezvous.hpp"
#include "support/proof/symbolic.hpp"
#include "support/proof/world.hpp"

namespace tutti::schedules {

/// The memories of all ranks of one collective in one process, with symbols in place of numbers: the checker's engine.
class Simulation {
 public:
  /// The references must outlive the simulation. Throws Fault where a schedule alone shows one.
  Simulation(const World& world, const std::vector<Schedule>& schedules, bool in_place);

  /// Runs all to the end. Throws Fault.
  void run(const Matching& matching, const Order& order);
  /// What an element of a rank's output holds.
  [[nodiscard]] const Symbol& result(int rank, std::size_t index) const;
  [[nodiscard]] bool is_untouched(int rank, std::size_t index) const;
  [[nodiscard]] const Terms& terms() const { return terms_; }

 private:
  /// Cells of input, output and scratch; in place, the first two are parts of one.
  struct Rank {
    std::vector<Symbol> cells;
    std::size_t base[3] = {0, 0, 0};
    std::size_t count[3] = {0, 0, 0};
    std::vector<std::uint64_t> heard;  ///< of a barrier: the ranks that are known to have entered, a bit each
    std::vector<std::uint64_t> hears;
  };

  void place(int rank, bool in_place);
  [[nodiscard]] Symbol at_start(int rank, std::size_t cell) const;
  void check_round(int rank, std::size_t round);
  void check_slice(int rank, const Slice& slice, bool writes) const;
  void check_transfers(int rank, const Round& round);
  void check_local(int rank, const Local& local) const;
  void deliver(const End& send, const End& recv);
  void listen(int sender, int receiver);
  void exchange(const Matching::Meeting& meeting);
  void end_round(int rank, std::size_t round);
  void run_local(int rank, const Local& local);
  void check_barrier() const;
  [[nodiscard]] std::size_t address(int rank, const Slice& slice) const;
  /// The cells of a slice, all of which must be written.
  [[nodiscard]] const Symbol* read(int rank, const Slice& slice) const;
  void copy(int rank, const Slice& from, Symbol* to) const;
  [[nodiscard]] const Slice& slice_at(const End& end) const;

  const World& world_;
  const std::vector<Schedule>& schedules_;
  Terms terms_;
  std::vector<Rank> ranks_;
  std::vector<const Transfer*> by_address_;
};

}  // namespace tutti::schedules
