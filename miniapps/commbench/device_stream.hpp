// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <tutti/options.hpp>

#include "device/runtime.hpp"

namespace tutti::commbench {

/// A stream of the current device, that calls are ordered on. Throws tutti::Error (not_built, cuda).
class DeviceStream {
 public:
  DeviceStream();
  ~DeviceStream();
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;

  [[nodiscard]] detail::device::StreamHandle handle() const { return handle_; }
  [[nodiscard]] Stream stream() const { return {StreamKind::cuda, handle_}; }
  /// Waits until all that is on it is done, while operations of the library go on.
  void settle() const;

 private:
  detail::device::StreamHandle handle_;
};

/// Seconds that a stream takes from one place to another: CUDA's events, or, where the runtime runs host functions on
/// its streams, their clock.
class DeviceTimer {
 public:
  DeviceTimer();
  ~DeviceTimer();
  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;

  void begin(const DeviceStream& stream);
  void end(const DeviceStream& stream);
  /// Once the stream has settled.
  [[nodiscard]] double seconds() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tutti::commbench
