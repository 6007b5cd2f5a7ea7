// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "operation/signature.hpp"

namespace tutti::detail {

struct Machine;
struct Plan;

/// The trial of the ways to make one blocking call that a program repeats. Predictions err where a machine is unlike
/// the models, so the call itself finds out: after many calls by the predicted way, every way makes a few calls in
/// turn, the better ones make some more, and from then on the fastest makes all. The number of calls decides what
/// happens next, and all ranks count the same calls, so that they exchange only their times, after each heat, in a call
/// that synchronises them anyway. Until then the predicted way makes the calls. Takes no memory after it was made.
class Trial {
 public:
  /// Calls before a trial: a call that is repeated less often is not worth one.
  static constexpr std::size_t settled_calls = 200;
  /// Unmeasured calls at the beginning of a way's turn: its memory is not in the caches, or not even there, before it
  /// has used each cell of shared memory once.
  static constexpr std::size_t warm_calls = 17;
  static constexpr std::size_t measured_calls = 9;
  /// Ways that take longer than the best by this factor leave after the first heat.
  static constexpr double hopeless = 1.5;
  /// The predicted way stays if no other is faster by this factor.
  static constexpr double worthwhile = 1.04;
  static constexpr int heats = 3;
  /// Predictions are far off beyond this factor.
  static constexpr double surprise = 3;

  /// ways: the predicted way first.
  explicit Trial(std::vector<std::shared_ptr<const Plan>> ways);

  /// The predicted way.
  [[nodiscard]] const std::shared_ptr<const Plan>& first() const { return ways_.front(); }
  /// The way of the current call.
  [[nodiscard]] const std::shared_ptr<const Plan>& way() const { return ways_[current()]; }
  /// Returns true if note() wants the time of the current call.
  [[nodiscard]] bool measures() const {
    return begun() && !is_heat_over() && (calls_ - settled_calls) % turn >= warm_calls;
  }
  /// Ends the current call, which took `seconds` on this rank. Returns true if a heat ends with it: judge() must
  /// follow, after any number of calls.
  [[nodiscard]] bool note(double seconds);
  /// The number of ways in this heat.
  [[nodiscard]] std::size_t rivals() const { return ways_.size(); }
  /// Writes this rank's times of the ways in this heat: medians.
  void write_times(std::span<double> times);
  /// Ends a heat, by the times of the slowest rank.
  void judge(std::span<const double> slowest);
  /// Returns true if the predicted way took a time far from its prediction.
  [[nodiscard]] bool surprises() const { return surprises_; }
  /// The chosen way, or null before the last heat has been judged.
  [[nodiscard]] const std::shared_ptr<const Plan>& winner() const { return winner_; }
  /// Equal on all ranks that are as far.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  static constexpr std::size_t turn = warm_calls + measured_calls;
  [[nodiscard]] bool begun() const { return calls_ >= settled_calls; }
  [[nodiscard]] bool is_heat_over() const { return calls_ == settled_calls + turn * ways_.size(); }
  [[nodiscard]] std::size_t current() const { return begun() && !is_heat_over() ? (calls_ - settled_calls) / turn : 0; }
  void keep_promising();

  std::vector<std::shared_ptr<const Plan>> ways_;  ///< those that are still in the trial
  struct Samples {
    std::array<double, measured_calls> seconds{};
    std::size_t count = 0;
  };
  std::vector<Samples> samples_;
  std::vector<double> sums_;  ///< of the heats
  std::shared_ptr<const Plan> winner_{};
  std::size_t calls_ = 0;  ///< of this heat, after settled_calls
  int heat_ = 0;
  bool surprises_ = false;
};

/// The trials of a communicator. They outlive plans, which a rank may drop at any time, because all ranks must count
/// the same calls.
class Trials {
 public:
  /// The trial of a signature, or null if it has none. One that was left to this communicator goes on in a copy.
  [[nodiscard]] std::shared_ptr<Trial> find(const Signature& signature);
  /// Returns false if there are already so many that no more are made.
  [[nodiscard]] bool has_room() const { return trials_.size() < capacity; }
  void add(const Signature& signature, std::shared_ptr<Trial> trial) {
    trials_[signature] = std::move(trial);
    waiting_.reserve(trials_.size());
  }
  /// The trial's heat is over, and has to be judged.
  void await(Trial& trial) noexcept { waiting_.push_back(&trial); }
  [[nodiscard]] bool has_waiting() const noexcept { return !waiting_.empty(); }
  /// Begins with the trials of an ended communicator of the same ranks, the same on all of them.
  void inherit(std::shared_ptr<const Trials> left) { inherited_ = std::move(left); }
  /// These and those that ended communicators have left; of one signature the one that is over.
  [[nodiscard]] Trials with(const Trials& earlier) const;
  [[nodiscard]] bool empty() const { return trials_.empty(); }
  /// Equal on all ranks whose trials are as far.
  [[nodiscard]] std::uint64_t digest() const;
  /// Takes those whose heats have to be judged, the same on all ranks.
  [[nodiscard]] std::vector<Trial*> take_waiting() {
    std::vector<Trial*> heats = waiting_;
    waiting_.clear();
    return heats;
  }

 private:
  static constexpr std::size_t capacity = 1024;
  std::unordered_map<Signature, std::shared_ptr<Trial>, SignatureHash> trials_;
  std::vector<Trial*> waiting_;  ///< with room for all
  std::shared_ptr<const Trials> inherited_{};
};

/// A hash of what decides on the ways of calls and may differ between communicators of the same ranks. Equal on all.
[[nodiscard]] std::uint64_t facts_of_ways(const Machine& machine);

/// What the last communicator that has ended leaves to later ones of the same processes in the same order: ranks that
/// have the same of it go on from there, so that a program which makes a communicator for a few hundred calls, again
/// and again, has one trial. Any thread.
class Heritage {
 public:
  struct Left {
    std::shared_ptr<const Trials> trials{};
    std::uint64_t facts = 0;   ///< by which plans are made
    std::uint64_t digest = 0;  ///< of both; 0: nothing is left
  };
  [[nodiscard]] Left left() const {
    const std::lock_guard lock(mutex_);
    return left_;
  }
  /// Leaves what all ranks of a communicator leave when they free it.
  void leave(const Trials& trials, std::uint64_t facts);
  void forget() {
    const std::lock_guard lock(mutex_);
    left_ = {};
  }

 private:
  mutable std::mutex mutex_;
  Left left_{};
};

}  // namespace tutti::detail
