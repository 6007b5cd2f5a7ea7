// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tutti/buffer.hpp>

namespace tutti::detail::device {

/// A cudaStream_t (null: the default stream), a cudaEvent_t.
using StreamHandle = void*;
using EventHandle = void*;
/// A graph that can be launched.
using GraphHandle = void*;
using Uuid = std::array<unsigned char, 16>;

/// What the library needs of the CUDA runtime: the only way to it, and the seam for tests. Failures throw Error: cuda,
/// with CUDA's own text, or out_of_memory. Nothing here waits for a device. Any thread.
class Runtime {
 public:
  struct Pointer {
    MemoryKind kind = MemoryKind::host;
    int device = -1;  ///< of device and managed memory
  };

  virtual ~Runtime() = default;

  /// Whether this process already uses a device; asking never begins to.
  [[nodiscard]] virtual bool has_context() = 0;
  [[nodiscard]] virtual int device_count() = 0;
  [[nodiscard]] virtual int current_device() = 0;
  virtual void set_current_device(int device) = 0;
  /// For Guard: makes another device current, and the former one again. Unlike set_current_device, the way back begins
  /// to use no device: on a thread that has used none, as the progress thread, that would be the first of the machine.
  virtual void enter_device(int device) { set_current_device(device); }
  virtual void leave_device(int former) { set_current_device(former); }
  [[nodiscard]] virtual Uuid uuid(int device) = 0;
  [[nodiscard]] virtual std::string device_name(int device) = 0;

  /// Host without a context, and for what CUDA does not know.
  [[nodiscard]] virtual Pointer inspect(const void* address) = 0;
  /// pinned, device or managed memory, of the current device.
  [[nodiscard]] virtual void* allocate(MemoryKind kind, std::size_t bytes) = 0;
  virtual void release(MemoryKind kind, void* address) noexcept = 0;

  /// In stream order, between memories of any kind.
  virtual void copy(void* to, const void* from, std::size_t bytes, StreamHandle stream) = 0;
  /// `rows` pieces of `width` bytes, that lie so many bytes apart.
  virtual void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t rows, StreamHandle stream) = 0;
  virtual void fill_zero(void* to, std::size_t bytes, StreamHandle stream) = 0;

  /// Of the current device; a stream does not wait for the default stream.
  [[nodiscard]] virtual StreamHandle create_stream() = 0;
  virtual void destroy_stream(StreamHandle stream) noexcept = 0;
  [[nodiscard]] virtual EventHandle create_event() = 0;
  virtual void destroy_event(EventHandle event) noexcept = 0;
  virtual void record(EventHandle event, StreamHandle stream) = 0;
  /// Whether what was recorded is done; true where nothing was. Throws what the device reports.
  [[nodiscard]] virtual bool is_complete(EventHandle event) = 0;
  /// The stream waits for what was recorded.
  virtual void wait_event(StreamHandle stream, EventHandle event) = 0;
  [[nodiscard]] virtual bool is_idle(StreamHandle stream) = 0;

  /// Which capture into a graph a stream takes part in; 0: none.
  [[nodiscard]] virtual std::uint64_t capture_of(StreamHandle stream) = 0;
  /// Calls `release(data)` when the graph that the stream is captured into, and all made of it, are gone. The function
  /// must not call CUDA.
  virtual void retain_by_graph(StreamHandle stream, void (*release)(void*), void* data) = 0;

  /// What is put on the stream from here on, and on streams that wait for it, becomes a graph instead of being done.
  /// Counterpart: cudaStreamBeginCapture, of this thread's calls only.
  virtual void start_graph(StreamHandle stream);
  /// Ends what start_graph began, also after a failure, which it throws; the graph is ready to be launched.
  [[nodiscard]] virtual GraphHandle finish_graph(StreamHandle stream);
  virtual void launch_graph(GraphHandle graph, StreamHandle stream);
  /// No launch of it is under way.
  virtual void release_graph(GraphHandle graph) noexcept;

  /// Whether a stream can wait for a word of pinned memory.
  [[nodiscard]] virtual bool has_stream_flags(int device) = 0;
  /// The stream waits until the word in pinned memory is at least `value`.
  virtual void wait_flag(StreamHandle stream, const std::uint32_t* word, std::uint32_t value) = 0;

  /// Whether the host may read and write device memory, so that a kernel can be a host function: of tests' runtimes.
  [[nodiscard]] virtual bool runs_host_functions() const noexcept { return false; }
  /// A host function in stream order; only where runs_host_functions().
  virtual void run_host(StreamHandle stream, std::function<void()> function);
};

/// The runtime of this process; null where CUDA was not built in.
[[nodiscard]] Runtime* runtime() noexcept;
/// As runtime(), but throws not_built, naming `what` was asked for.
[[nodiscard]] Runtime& required_runtime(const char* what);

/// Tests only: puts another runtime in its place (null: that of the build again) and gives the former, or null where
/// none was put there. What pools keep of the former is forgotten, not released.
Runtime* replace_runtime(Runtime* other) noexcept;
/// Counts the calls of replace_runtime: what is kept for a runtime is kept by this number.
[[nodiscard]] std::uint64_t runtime_generation() noexcept;

/// Makes a device current, and the former one again at the end.
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

}  // namespace tutti::detail::device
