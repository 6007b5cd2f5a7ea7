// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>

#include "device/traffic.hpp"

namespace tutti::detail::device {

/// Runs `action` while no NCCL work is in flight on the device and none can be launched, and returns its result. Drives
/// the library's progress until then. Not on a thread that holds the launch lock.
template <typename Action>
auto at_rest(int device, const Action& action) {
  Traffic& traffic = Traffic::of(device);
  while (true) {
    {
      const std::unique_lock no_launch(traffic.launch_mutex(), std::try_to_lock);
      if (no_launch && traffic.is_idle()) return action();
    }
    give_way();
  }
}

}  // namespace tutti::detail::device
