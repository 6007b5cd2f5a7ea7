// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "device/runtime.hpp"

namespace tutti::detail::device {

/// What the CUDA driver is asked directly, because the CUDA runtime would begin to use a device by the question.
/// Nothing here but push() creates a context. Any thread.
class Driver {
 public:
  /// Looks for the driver at the first use; where there is none, no later call looks again.
  [[nodiscard]] static Driver& instance();

  /// Whether this process uses a device. Without a driver the answer costs a load.
  [[nodiscard]] bool has_context() noexcept;
  /// Host for what the driver does not know, and without a context. False where the driver does not answer on this
  /// thread.
  [[nodiscard]] bool inspect(const void* address, Runtime::Pointer& pointer) noexcept;
  /// False where the driver has no such function.
  [[nodiscard]] bool uuid(int device, Uuid& uuid) noexcept;
  [[nodiscard]] bool has_stream_memory_operations(int device) noexcept;
  /// Makes the context that CUDA's runtime uses on a device the thread's, on top of what it has. False where it failed.
  [[nodiscard]] bool push(int device) noexcept;
  /// What the thread had before.
  void pop() noexcept;

 private:
  Driver();
  struct Functions;
  Functions* functions_ = nullptr;  ///< null without a driver
};

}  // namespace tutti::detail::device
