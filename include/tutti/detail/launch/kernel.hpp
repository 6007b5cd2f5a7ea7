// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <tutti/detail/export.hpp>

/// What the library does for a launch. None of it needs Kokkos or CUDA.
namespace tutti::kernels::device {

/// A cudaStream_t (null: the default stream).
using StreamHandle = void*;

/// The code of one kernel, or of the kernels of one function of a library. CUDA loads code at its first launch on a
/// device, and may wait for all work of the device then: for ever, if that work waits in NCCL for a rank that waits for
/// this one. Any thread.
class TUTTI_EXPORT Kernel {
 public:
  constexpr Kernel() noexcept = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// Before each launch on the stream. The first call for a device runs `idle`: launches that do nothing, and that make
  /// the driver load the code. Waits until no NCCL work is in flight, and drives the library's progress until then.
  /// Throws not_supported if it would have to load under capture, or while this thread launches NCCL work beside other
  /// NCCL work.
  void load(StreamHandle stream, const std::function<void()>& idle);

 private:
  std::atomic<std::uint64_t> last_{0};  ///< the runtime and the device of the last launch
};

/// Makes what launches on a stream of the current device need, at rest, unless it is made.
TUTTI_EXPORT void prepare_stream(StreamHandle stream);

/// Whether bodies are host functions, as in tests whose device is the host.
[[nodiscard]] TUTTI_EXPORT bool runs_on_host();
/// Then: loads the kernel and prepares the stream, and calls `launch`, unless it is empty, in the order of the stream.
TUTTI_EXPORT void run_on_host(StreamHandle stream, Kernel& kernel, std::function<void()> launch);

/// Throws not_built: there are no kernels for the memory that they were given.
[[noreturn]] TUTTI_EXPORT void throw_without_kernels();

}  // namespace tutti::kernels::device
