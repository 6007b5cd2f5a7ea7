// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/player.hpp"
#include "simulation/machine.hpp"
#include "simulation/messages.hpp"
#include "simulation/scheduler.hpp"
#include "simulation/shared_memory.hpp"
#include "simulation/weak_memory.hpp"

namespace tutti::simulation {

/// One seed: its machine, its program, and all ranks that play it.
class Run final : public Environment {
 public:
  Run(std::uint64_t seed, const Wishes& wishes);
  ~Run() override;

  /// Returns what is wrong, or "". After a defect no other run can follow.
  [[nodiscard]] std::string play();
  /// A digest of all decisions and all steps: the same for the same seed.
  [[nodiscard]] std::uint64_t digest() const { return scheduler_.digest(); }
  [[nodiscard]] std::uint64_t decisions() const { return scheduler_.decisions(); }
  /// Ranks whose calls failed because another rank had died.
  [[nodiscard]] int failed() const { return failed_; }

  // Environment
  bool deliver(Random& random) override { return messages_.deliver(random); }
  void disturb(Random& random) override;
  bool loses_wake() override;

 private:
  class Rank;

  void play_rank(int rank);
  void play_program(Rank& rank, fuzz::Player& player);
  [[nodiscard]] std::shared_ptr<detail::Context> make_context(int rank, std::size_t group,
                                                              std::shared_ptr<detail::Commons>& commons);
  static void take_lot(detail::Context& context);

  const std::uint64_t seed_;
  const Wishes wishes_;
  Random random_;
  const Machine machine_;
  const Manner manner_;
  fuzz::Setting setting_;
  const fuzz::Program program_;
  Scheduler scheduler_;
  Messages messages_;
  SharedMemory memory_;
  std::optional<WeakMemory> weak_;
  std::vector<Messages::Handle> handles_;  ///< of each group, for the library
  std::vector<Messages::Handle> users_;    ///< of each group, for its caller
  std::uint64_t yields_before_;
  int wakes_left_;
  int failed_ = 0;
  int plays_ = 1;  ///< of the program, each with new communicators
};

}  // namespace tutti::simulation
