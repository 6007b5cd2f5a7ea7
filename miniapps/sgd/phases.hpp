// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "common/phases.hpp"

namespace sgd {

/// Where the time of a training step goes. `communication` is what is exposed: all that the caller spends in calls that
/// communicate, while it computes nothing.
enum class Stage : std::size_t { data, forward, backward, communication, update };

class StepTimer : public tutti::miniapps::Phases {
 public:
  /// The first `warmup` steps are not counted.
  explicit StepTimer(std::size_t warmup)
      : Phases({{"data", false}, {"forward", false}, {"backward", false}, {"communication", true}, {"update", false}},
               warmup) {}
  void enter(Stage stage) { Phases::enter(static_cast<std::size_t>(stage)); }
  [[nodiscard]] double median_of(Stage stage) const { return median(static_cast<std::size_t>(stage)); }
};

}  // namespace sgd
