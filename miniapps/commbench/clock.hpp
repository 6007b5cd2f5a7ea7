// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace tutti::commbench {

/// Seconds of the steady clock, which all processes of one machine share.
[[nodiscard]] inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Computes on a small array until so many seconds have passed; gives the seconds that it really took.
double compute_for(double seconds);

}  // namespace tutti::commbench
