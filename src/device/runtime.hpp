// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tutti/buffer.hpp>
#include <tutti/options.hpp>

namespace tutti::detail::device {

/// A cudaStream_t or hipStream_t (null: the default stream), a cudaEvent_t or hipEvent_t.
using StreamHandle = void*;
using EventHandle = void*;
/// A cudaGraphExec_t or hipGraphExec_t.
using GraphHandle = void*;
using Uuid = std::array<unsigned char, 16>;

/// How open captures restrict this thread's calls; the values are CUDA's. Counterpart: cudaStreamCaptureMode.
enum class CaptureMode : std::uint8_t { global, thread_local_, relaxed };

/// Whose devices a runtime drives: CUDA's or HIP's.
enum class Vendor : std::uint8_t { nvidia, amd };

/// The part of the CUDA runtime, or of HIP's twin of it, that the library uses, and the seam for tests. A failure
/// throws Error: cuda, with the runtime's own text, or out_of_memory. Nothing here waits for a device unless it says
/// so. Any thread.
class Runtime {
 public:
  struct Pointer {
    MemoryKind kind = MemoryKind::host;
    int device = -1;  ///< of device and managed memory
  };

  virtual ~Runtime() = default;

  [[nodiscard]] virtual Vendor vendor() const noexcept { return Vendor::nvidia; }
  /// Whether this process already uses a device. Asking does not start using one.
  [[nodiscard]] virtual bool has_context() noexcept = 0;
  [[nodiscard]] virtual int device_count() = 0;
  [[nodiscard]] virtual int current_device() = 0;
  virtual void set_current_device(int device) = 0;
  /// For Guard: makes another device current, then restores the former one. Unlike set_current_device, restoring does
  /// not start using a device; on a thread that has used none, like the progress thread, that would be device 0.
  virtual void enter_device(int device) { set_current_device(device); }
  virtual void leave_device(int former) { set_current_device(former); }
  [[nodiscard]] virtual Uuid uuid(int device) = 0;
  [[nodiscard]] virtual std::string device_name(int device) = 0;
  /// The address on the PCI bus, "0000:17:00.0"; empty if unknown.
  [[nodiscard]] virtual std::string bus_id(int device);
  /// The compute capability, 90 for 9.0; 0 if unknown.
  [[nodiscard]] virtual int capability(int device);
  /// CUDA's versions as it numbers them, 12040 for 12.4; 0: no driver, or unknown. Asking does not start using a
  /// device.
  [[nodiscard]] virtual int driver_version();
  [[nodiscard]] virtual int runtime_version();

  /// The kind is host without a context, and for an address unknown to CUDA.
  [[nodiscard]] virtual Pointer inspect(const void* address) = 0;
  /// Allocates pinned, device or managed memory of the current device.
  [[nodiscard]] virtual void* allocate(MemoryKind kind, std::size_t bytes) = 0;
  /// Waits for the device where CUDA's own functions do.
  virtual void release(MemoryKind kind, void* address) noexcept = 0;
  /// Allocates and frees device memory of the current device's memory pool in the order of a stream; null if it has
  /// none. Counterparts: cudaMallocAsync, cudaFreeAsync.
  [[nodiscard]] virtual void* allocate_ordered(std::size_t bytes, StreamHandle stream);
  virtual void release_ordered(void* address, StreamHandle stream) noexcept;
  /// Waits until all work on the current device is done. Throws while a stream of the device is under capture.
  /// Counterpart: cudaDeviceSynchronize.
  virtual void finish_device() = 0;

  /// Copies in stream order between memories of any kind.
  virtual void copy(void* to, const void* from, std::size_t bytes, StreamHandle stream) = 0;
  /// Copies `rows` pieces of `width` bytes; the pitches are the distances between pieces, in bytes.
  virtual void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t rows, StreamHandle stream) = 0;
  virtual void fill_zero(void* to, std::size_t bytes, StreamHandle stream) = 0;

  /// Makes a stream of the current device that does not wait for the default stream.
  [[nodiscard]] virtual StreamHandle create_stream() = 0;
  virtual void destroy_stream(StreamHandle stream) noexcept = 0;
  [[nodiscard]] virtual EventHandle create_event() = 0;
  virtual void destroy_event(EventHandle event) noexcept = 0;
  virtual void record(EventHandle event, StreamHandle stream) = 0;
  /// Whether the recorded work is done; true if nothing was recorded. Throws the error that the device reports.
  [[nodiscard]] virtual bool is_complete(EventHandle event) = 0;
  /// Makes the stream wait for the recorded work.
  virtual void wait_event(StreamHandle stream, EventHandle event) = 0;
  [[nodiscard]] virtual bool is_idle(StreamHandle stream) = 0;

  /// The number of the graph capture that the stream takes part in; 0: none.
  [[nodiscard]] virtual std::uint64_t capture_of(StreamHandle stream) = 0;
  /// Calls `release(data)` when the graph that the stream is captured into, and everything made from it, is destroyed.
  /// The function must not call CUDA.
  virtual void retain_by_graph(StreamHandle stream, void (*release)(void*), void* data) = 0;

  /// Sets the mode of this thread and returns the former one. Counterpart: cudaThreadExchangeStreamCaptureMode.
  virtual CaptureMode exchange_capture_mode(CaptureMode mode) noexcept;

  /// Captures later work on the stream, and on streams that wait for it, into a graph instead of running it.
  /// Counterpart: cudaStreamBeginCapture, for this thread's calls only.
  virtual void start_graph(StreamHandle stream);
  /// Ends the capture that start_graph began and makes its graph ready to launch. Throws if the capture failed.
  [[nodiscard]] virtual GraphHandle finish_graph(StreamHandle stream);
  virtual void launch_graph(GraphHandle graph, StreamHandle stream);
  /// The caller ensures that no launch of the graph is under way.
  virtual void release_graph(GraphHandle graph) noexcept;

  /// Whether streams can wait for a word of pinned memory.
  [[nodiscard]] virtual bool has_stream_flags(int device) = 0;
  /// Makes the stream wait until the word in pinned memory is at least `value`.
  virtual void wait_flag(StreamHandle stream, const std::uint32_t* word, std::uint32_t value) = 0;

  /// Whether the host may read and write device memory, so that a kernel can be a host function. Only test runtimes
  /// can.
  [[nodiscard]] virtual bool runs_host_functions() const noexcept { return false; }
  /// Runs a host function in stream order. Requires runs_host_functions(). kernel: the one that it stands for;
  /// null: none.
  virtual void run_host(StreamHandle stream, std::function<void()> function, const void* kernel = nullptr);

  /// A pool has got memory back, which no stream uses any more. For test runtimes, which spoil it.
  virtual void note_unused(void* memory, std::size_t bytes) noexcept;

  /// A kernel has been loaded onto the current device. For test runtimes.
  virtual void load_kernel(const void* kernel);

  /// The device of a stream; of the default stream the current one. Counterpart: cudaStreamGetDevice.
  [[nodiscard]] virtual int device_of(StreamHandle stream) = 0;
};

/// The problem of a build without a runtime, and its remedy.
inline constexpr const char* no_runtime_text =
    "this library was built without CUDA and HIP; build it with TUTTI_ENABLE_CUDA=ON or TUTTI_ENABLE_HIP=ON, or use "
    "host "
    "memory";
/// The runtime of this process; null in a build without CUDA and HIP.
[[nodiscard]] Runtime* runtime() noexcept;
/// Like runtime(), but throws not_built, naming the feature `what`, in such a build.
[[nodiscard]] Runtime& required_runtime(const char* what);

/// Tests only: installs another runtime (null: that of the build) and returns the one installed before, or null. Memory
/// that pools hold from the former runtime is forgotten, not released.
Runtime* replace_runtime(Runtime* other) noexcept;
/// The number of calls of replace_runtime so far. Objects kept for a runtime are filed under it.
[[nodiscard]] std::uint64_t runtime_generation() noexcept;

/// Makes a device current; the destructor restores the former one.
class Guard {
 public:
  explicit Guard(int device);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  int former_;
  bool changed_;
};

/// The runtime that was built in: CUDA's, or null.
[[nodiscard]] Runtime* built_runtime() noexcept;

[[noreturn]] void throw_per_thread(std::string_view who);
inline constexpr std::uintptr_t per_thread = 2;  ///< cudaStreamPerThread
[[nodiscard]] inline bool is_per_thread(const Stream& stream) {
  return stream.kind == StreamKind::cuda && reinterpret_cast<std::uintptr_t>(stream.handle) == per_thread;
}
/// Whether a stream is of no device: null, cudaStreamLegacy, cudaStreamPerThread.
[[nodiscard]] inline bool is_default(StreamHandle stream) noexcept {
  return reinterpret_cast<std::uintptr_t>(stream) <= per_thread;
}

/// Throws Error(invalid_argument) for cudaStreamPerThread. Its handle is another stream in each thread, and threads of
/// NCCL and of this library launch work for the caller. who() begins the text.
template <typename Who>
void refuse_per_thread(const Stream& stream, const Who& who) {
  if (is_per_thread(stream)) [[unlikely]]
    throw_per_thread(who());
}

}  // namespace tutti::detail::device
