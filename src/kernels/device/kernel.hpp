// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "device/runtime.hpp"

namespace tutti::kernels::device {

using tutti::detail::device::StreamHandle;

/// The code of one kernel. CUDA loads code at its first launch on a device, and may wait for all work of the device
/// then: for ever, if that work waits in NCCL for a rank that waits for this one. Any thread.
class Kernel {
 public:
  /// code: the address of a __global__ function; for a host function, any address that no other kernel has.
  constexpr explicit Kernel(const void* code) noexcept : code_(code) {}
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  [[nodiscard]] const void* code() const noexcept { return code_; }
  /// Before each launch on the stream: loads the code on the current device unless it is loaded there. Waits until no
  /// NCCL work is in flight, and drives the library's progress until then. Throws not_supported if it would have to
  /// load under capture, or while this thread launches NCCL work beside other NCCL work.
  void load(StreamHandle stream);
  /// The same for kernels of a library, whose code only their first launch loads: on the first call for a device it
  /// runs `launch` then, and returns true; later it returns false.
  bool launch_first(StreamHandle stream, const std::function<void()>& launch);

 private:
  /// The runtime and its current device.
  [[nodiscard]] static std::uint64_t here();
  /// Runs `act` unless that was done for this device before.
  bool once(StreamHandle stream, const std::function<void()>& act);

  const void* code_;
  std::atomic<std::uint64_t> last_{0};  ///< the runtime and the device of the last launch
};

}  // namespace tutti::kernels::device
