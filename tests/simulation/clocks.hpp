// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tutti::simulation {

/// The ranks of a run with weak memory, at most.
inline constexpr int most_clocks = 4;

/// A vector clock: the step of each rank up to which something is known.
class Clock {
 public:
  [[nodiscard]] std::uint32_t& operator[](int rank) { return steps_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::uint32_t operator[](int rank) const { return steps_[static_cast<std::size_t>(rank)]; }
  void join(const Clock& other) {
    for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i] = std::max(steps_[i], other.steps_[i]);
  }

 private:
  std::array<std::uint32_t, most_clocks> steps_{};
};

/// What a rank knows of all ranks' steps, and what a store or a message hands on.
struct Knowledge {
  Clock past{};  ///< the steps that happened before
  Clock view{};  ///< those whose stores hide older ones: the past, and what fences of sequential consistency add
  void join(const Knowledge& other) {
    past.join(other.past);
    view.join(other.view);
  }
};

}  // namespace tutti::simulation
