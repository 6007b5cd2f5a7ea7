// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <tutti/buffer.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>

/// Devices, streams, memory, events and graphs for a program that is compiled without CUDA's headers and may run where
/// there is no GPU. A program that calls CUDA itself needs three of them: wait_stream(), since peers may depend on this
/// process while it waits; DeviceMemory, since cudaMalloc may deadlock while NCCL works; and DeviceGraph, since a graph
/// with calls of this library takes its place in the order of NCCL's launches. All are local. Errors of all: not_built
/// (a library without CUDA), cuda (with CUDA's own text), out_of_memory.
namespace tutti {

/// Returns the reason why this process can use no GPU; empty if it can.
[[nodiscard]] TUTTI_EXPORT std::string why_no_device();
/// Returns the number of GPUs; 0 if why_no_device() has a reason. Counterpart: cudaGetDeviceCount.
[[nodiscard]] TUTTI_EXPORT int device_count() noexcept;
/// Returns, or sets, the current device of this thread. Counterparts: cudaGetDevice, cudaSetDevice.
[[nodiscard]] TUTTI_EXPORT int current_device();
TUTTI_EXPORT void set_current_device(int device);
/// Returns the name of a device. Counterpart: cudaGetDeviceProperties.
[[nodiscard]] TUTTI_EXPORT std::string device_name(int device);

/// Returns true if all work on a stream is done. Never blocks. Counterpart: cudaStreamQuery.
[[nodiscard]] TUTTI_EXPORT bool is_idle(Stream stream);
/// Blocks until all work on a stream is done, and drives the outstanding operations of this library and of the host MPI
/// meanwhile. Its counterpart cudaStreamSynchronize stops both, and hangs if a peer needs them to do its own part.
TUTTI_EXPORT void wait_stream(Stream stream);
/// Copies bytes between memories of any kind, in stream order. Counterpart: cudaMemcpyAsync.
TUTTI_EXPORT void copy_bytes(void* to, const void* from, std::size_t bytes, Stream stream);
/// Sets bytes to zero, in stream order. Counterpart: cudaMemsetAsync.
TUTTI_EXPORT void clear_bytes(void* to, std::size_t bytes, Stream stream);

/// Owns a stream of the device that is current in the constructor. The stream does not wait for the default stream, and
/// the destructor does not wait for the stream. Counterpart: cudaStreamCreateWithFlags.
class TUTTI_EXPORT DeviceStream {
 public:
  DeviceStream();
  ~DeviceStream();
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;

  /// The cudaStream_t.
  [[nodiscard]] void* handle() const noexcept { return handle_; }
  /// For the options of calls.
  [[nodiscard]] Stream stream() const noexcept { return {StreamKind::cuda, handle_}; }
  void wait() const { wait_stream(stream()); }

 private:
  void* handle_;
};

/// Owns uninitialised memory of the current device (MemoryKind::device or managed), or host memory that devices reach
/// (pinned). Device and pinned memory come from the library's pools and return to them, so that both are safe while
/// NCCL works. Destroy it only when no stream uses the memory any more. Move-only. Errors: invalid_argument (another
/// kind). Counterparts: cudaMalloc, cudaMallocManaged, cudaHostAlloc. See allocate() for memory that all ranks take
/// together.
class TUTTI_EXPORT DeviceMemory {
 public:
  /// Owns nothing: data() is null and size() is 0. Asking for 0 bytes does the same.
  DeviceMemory() noexcept;
  DeviceMemory(MemoryKind kind, std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&&) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Returns the address, aligned to 256 bytes.
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  /// Returns the number of bytes asked for.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Marks a place on a stream that the host and other streams can wait for. Move-only. Counterpart: cudaEvent_t.
class TUTTI_EXPORT DeviceEvent {
 public:
  /// Marks nothing, and is complete.
  DeviceEvent() noexcept;
  ~DeviceEvent();
  DeviceEvent(DeviceEvent&&) noexcept;
  DeviceEvent& operator=(DeviceEvent&&) noexcept;
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;

  /// Marks the end of the work on a stream of any device; the default stream is that of the current one.
  void record(Stream stream);
  [[nodiscard]] bool is_complete() const;
  /// Blocks until complete, as wait_stream() does.
  void wait() const;
  /// Orders later work on the stream after the marked place. Counterpart: cudaStreamWaitEvent.
  void hold(Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Owns captured work that can be launched repeatedly. It may hold the calls of this library that allow capture
/// (docs/semantics.md). Destroy it when no launch is under way, and before the communicators whose calls it holds.
/// Move-only. Counterpart: cudaGraphExec_t.
class TUTTI_EXPORT DeviceGraph {
 public:
  /// Holds no work.
  DeviceGraph() noexcept = default;
  ~DeviceGraph();
  DeviceGraph(DeviceGraph&&) noexcept;
  DeviceGraph& operator=(DeviceGraph&&) noexcept;
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  /// Captures the work that `enqueue` puts on a stream, without doing it. An exception of `enqueue` ends the capture
  /// and passes through.
  [[nodiscard]] static DeviceGraph capture(Stream stream, const std::function<void()>& enqueue);
  [[nodiscard]] bool is_empty() const noexcept { return handle_ == nullptr; }
  /// Puts the work on a stream of the device that it was captured on. If it holds calls of this library, all ranks must
  /// launch it at the same place among their calls. Errors: invalid_argument (empty). Counterpart: cudaGraphLaunch.
  void launch(Stream stream) const;

 private:
  void* handle_ = nullptr;
  int device_ = 0;
};

}  // namespace tutti
