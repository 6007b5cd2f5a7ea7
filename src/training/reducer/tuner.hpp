// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tutti::detail::reducer {

/// Chooses the bucket size: of each candidate a few steps, the fastest stays. Fed with times that are equal on all
/// ranks, it decides alike on all.
class Tuner {
 public:
  Tuner() = default;
  /// How far it has come.
  struct Progress {
    std::vector<std::size_t> candidates{};  ///< bytes
    std::vector<double> best{};             ///< seconds of a step with each
    std::size_t current = 0;
    std::size_t step = 0;
    std::size_t chosen = 0;
  };
  explicit Tuner(Progress progress) : state_(std::move(progress)) {}
  /// For gradients of so many bytes in all.
  [[nodiscard]] static Tuner among_sizes(std::size_t total_bytes);
  /// Of one size, which it does not measure.
  [[nodiscard]] static Tuner fixed(std::size_t bytes);

  [[nodiscard]] bool is_settled() const { return state_.current >= state_.candidates.size(); }
  /// The size to be used in the next step.
  [[nodiscard]] std::size_t bytes() const { return is_settled() ? state_.chosen : state_.candidates[state_.current]; }
  /// Of a step with that size; true when the next step takes another.
  bool record(double seconds);

  [[nodiscard]] const Progress& progress() const { return state_; }
  static constexpr std::size_t warm_ups = 1;
  static constexpr std::size_t timed_steps = 3;

 private:
  void settle();

  Progress state_;
};

}  // namespace tutti::detail::reducer
