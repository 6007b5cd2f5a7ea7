// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tutti::detail::reducer {

/// Chooses the bucket size: it times a few steps with each candidate and keeps the fastest. Given the same times on all
/// ranks, it decides alike on all.
class Tuner {
 public:
  Tuner() = default;
  /// The measurements so far.
  struct Progress {
    std::vector<std::size_t> candidates{};  ///< bytes
    std::vector<double> best{};             ///< seconds of a step with each
    std::size_t current = 0;
    std::size_t step = 0;
    std::size_t chosen = 0;
  };
  explicit Tuner(Progress progress) : state_(std::move(progress)) {}
  /// Tries several sizes, for gradients of `total_bytes` together.
  [[nodiscard]] static Tuner among_sizes(std::size_t total_bytes);
  /// Uses one size, without measuring.
  [[nodiscard]] static Tuner fixed(std::size_t bytes);

  [[nodiscard]] bool is_settled() const { return state_.current >= state_.candidates.size(); }
  /// The size to be used in the next step.
  [[nodiscard]] std::size_t bytes() const { return is_settled() ? state_.chosen : state_.candidates[state_.current]; }
  /// Notes the time of a step with bytes(); true if the next step uses another size.
  bool record(double seconds);

  [[nodiscard]] const Progress& progress() const { return state_; }
  static constexpr std::size_t warm_ups = 1;
  static constexpr std::size_t timed_steps = 3;

 private:
  void settle();

  Progress state_;
};

}  // namespace tutti::detail::reducer
