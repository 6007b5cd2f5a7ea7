// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "device/runtime.hpp"

namespace tutti::detail::device {

/// Questions for the CUDA driver, because asking the CUDA runtime would make this process use a device. Only push()
/// creates a context. Any thread.
class Driver {
 public:
  /// Looks for the driver at the first use, and never again if there is none.
  [[nodiscard]] static Driver& instance();

  /// Whether this process uses a device. Without a driver the answer costs one load.
  [[nodiscard]] bool has_context() noexcept;
  /// The kind is host for an address unknown to the driver, and without a context. False if the driver does not answer
  /// on this thread.
  [[nodiscard]] bool inspect(const void* address, Runtime::Pointer& pointer) noexcept;
  /// False if the driver lacks the function.
  [[nodiscard]] bool uuid(int device, Uuid& uuid) noexcept;
  [[nodiscard]] bool has_stream_memory_operations(int device) noexcept;
  /// The device of a stream that was made. False if the driver does not say.
  [[nodiscard]] bool device_of(StreamHandle stream, int& device) noexcept;
  /// Pushes the context that CUDA's runtime uses on a device onto the thread's stack. False if that failed.
  [[nodiscard]] bool push(int device) noexcept;
  /// Restores the thread's former context.
  void pop() noexcept;

 private:
  Driver();
  struct Functions;
  Functions* functions_ = nullptr;  ///< null without a driver
};

}  // namespace tutti::detail::device
