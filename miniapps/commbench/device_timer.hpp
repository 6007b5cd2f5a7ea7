// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <tutti/device.hpp>

namespace tutti::commbench {

/// Seconds that a stream takes from one place to another: CUDA's events, or the host's clock where the device is a
/// stand-in of tests.
class DeviceTimer {
 public:
  DeviceTimer();
  ~DeviceTimer();
  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;

  void begin(const DeviceStream& stream);
  void end(const DeviceStream& stream);
  /// Once the stream was waited for.
  [[nodiscard]] double seconds() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Seconds of the steady clock, which all processes of one machine share.
[[nodiscard]] inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Computes on a small array until so many seconds have passed; gives the seconds that it really took.
double compute_for(double seconds);

}  // namespace tutti::commbench
