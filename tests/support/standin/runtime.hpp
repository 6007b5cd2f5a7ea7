// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/runtime.hpp"

namespace tutti::standin {

using detail::device::EventHandle;
using detail::device::StreamHandle;

/// A stand-in for the CUDA runtime, for tests of the logic that uses it: "device" memory is host memory that it keeps
/// a list of; a stream is a queue of work that is done, in order, only while somebody asks (is_complete, is_idle) or
/// work of another stream is waited for: never at the call, so that a missing order between streams gives wrong
/// results. The stream that is asked for goes first, and as far as it can; only where that is not enough do the others
/// make a step. While a process waits in a call of the library and asks for nothing, its streams go on by themselves,
/// because a peer may wait for their work. New memory holds bytes 0xff (NaN), memory that is free 0xdd, and the host
/// cannot touch that of a device (DeviceArena). It holds callers to CUDA's rules of captures: no query, and no event
/// from outside, on a captured stream; every stream that took part joins before the end. It records the calls. It
/// proves nothing about a GPU.
///
/// Streams share hardware queues (TUTTI_TEST_HARDWARE_QUEUES): work begins in the order of the calls of all streams of
/// a queue, so a wait holds up later work of the others too, and so does work that must come after other work. With
/// TUTTI_TEST_SEED, streams also go on by chance (Chance). With TUTTI_TEST_STREAM_THREADS=1 each stream has a thread
/// that does its work, with delays by chance.
class Runtime final : public detail::device::Runtime {
 public:
  /// Work in a queue: called until it returns true, without blocking.
  using Work = std::function<bool()>;

  /// queues: of the hardware; 0: as TUTTI_TEST_HARDWARE_QUEUES says, else 8, as CUDA has.
  explicit Runtime(int devices = 1, std::size_t queues = 0);
  ~Runtime() override;

  /// Installs itself while it lives.
  void install();

  // Of tests and of the other stand-ins.
  void enqueue(StreamHandle stream, const std::string& name, Work work);
  /// The same for a wait, which holds up what comes after it in its hardware queue.
  void enqueue_wait(StreamHandle stream, const std::string& name, Work work);
  /// As inspect() and capture_of(), but without being counted among the library's calls.
  [[nodiscard]] MemoryKind kind_of(const void* address) const;
  [[nodiscard]] bool is_captured(StreamHandle stream) const;
  /// Says that the devices are of another vendor.
  void be_of(detail::device::Vendor vendor) { vendor_ = vendor; }
  [[nodiscard]] detail::device::Vendor vendor() const noexcept override { return vendor_; }
  /// Lets all streams go on a little; true when all are empty.
  bool run_some();
  /// The hardware queue of a stream.
  [[nodiscard]] std::size_t queue_of(StreamHandle stream) const;
  /// Until all streams are empty, with MPI_Iprobe or sched_yield between.
  void run_all();
  [[nodiscard]] const std::vector<std::string>& record() const { return record_; }
  void clear_record();
  /// Launches of kernels so far.
  [[nodiscard]] std::size_t kernels() const noexcept { return kernels_; }
  /// Calls since then that are not in the record, since they change nothing: inspect, capture_of, current_device,
  /// exchange_capture_mode.
  [[nodiscard]] std::size_t questions(const std::string& name) const;
  /// A capture of a stream, as cudaStreamBeginCapture and its end: what is enqueued meanwhile on it, and on streams
  /// that wait for its events, becomes a graph; launch() enqueues it, destroy_graph() calls what was retained.
  void begin_capture(StreamHandle stream, detail::device::CaptureMode mode = detail::device::CaptureMode::global);
  [[nodiscard]] int end_capture(StreamHandle stream);
  /// Whether a call of this thread that CUDA calls unsafe, such as an allocation, would invalidate an open capture.
  [[nodiscard]] bool forbids_unsafe_calls() const;
  void launch(int graph, StreamHandle stream);
  void destroy_graph(int graph);
  /// Makes the next call of that name (as in Runtime: "copy", "is_complete", …) fail with cuda, or with out_of_memory
  /// where it is "allocate".
  void fail_next(const std::string& name);
  /// Takes memory away at once, as ncclMemFree does: work that is still in streams reads other bytes.
  void unmap(void* address);
  /// Allocations not released.
  [[nodiscard]] std::size_t live_allocations() const;
  /// Calls of allocate and release, and loads of kernels, while work whose name begins with "nccl" was in a stream:
  /// with CUDA, a deadlock. A kernel that was not loaded loads at its first launch.
  [[nodiscard]] std::size_t forbidden_allocations() const;
  /// Called before each try of a piece of work: what others write into this device's memory. Null: nothing.
  void set_arrivals(void (*arrive)());
  /// More bytes than these, together, are out_of_memory.
  void set_memory(std::size_t bytes);
  /// Whether this process uses the device already; true at the begin.
  void set_context(bool has);
  /// Ends work that would never be complete: what is in all streams is dropped, its events are complete.
  void drop_all();
  void set_uuid(int device, detail::device::Uuid uuid);
  void set_stream_flags(bool has) { has_flags_ = has; }

  // detail::device::Runtime
  bool has_context() noexcept override;
  int device_count() override;
  int current_device() override;
  void set_current_device(int device) override;
  detail::device::Uuid uuid(int device) override;
  std::string device_name(int device) override;
  int capability(int /*device*/) override { return capability_; }
  void set_capability(int capability) { capability_ = capability; }
  Pointer inspect(const void* address) override;
  void* allocate(MemoryKind kind, std::size_t bytes) override;
  void release(MemoryKind kind, void* address) noexcept override;
  void* allocate_ordered(std::size_t bytes, StreamHandle stream) override;
  void release_ordered(void* address, StreamHandle stream) noexcept override;
  void finish_device() override;
  void copy(void* to, const void* from, std::size_t bytes, StreamHandle stream) override;
  void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t rows, StreamHandle stream) override;
  void fill_zero(void* to, std::size_t bytes, StreamHandle stream) override;
  StreamHandle create_stream() override;
  void destroy_stream(StreamHandle stream) noexcept override;
  int device_of(StreamHandle stream) override;
  EventHandle create_event() override;
  void destroy_event(EventHandle event) noexcept override;
  void record(EventHandle event, StreamHandle stream) override;
  bool is_complete(EventHandle event) override;
  void wait_event(StreamHandle stream, EventHandle event) override;
  bool is_idle(StreamHandle stream) override;
  std::uint64_t capture_of(StreamHandle stream) override;
  detail::device::CaptureMode exchange_capture_mode(detail::device::CaptureMode mode) noexcept override;
  void start_graph(StreamHandle stream) override { begin_capture(stream, detail::device::CaptureMode::thread_local_); }
  detail::device::GraphHandle finish_graph(StreamHandle stream) override;
  void launch_graph(detail::device::GraphHandle graph, StreamHandle stream) override;
  void release_graph(detail::device::GraphHandle graph) noexcept override;
  void retain_by_graph(StreamHandle stream, void (*release)(void*), void* data) override;
  bool has_stream_flags(int device) override;
  void wait_flag(StreamHandle stream, const std::uint32_t* word, std::uint32_t value) override;
  bool runs_host_functions() const noexcept override { return true; }
  void run_host(StreamHandle stream, std::function<void()> function, const void* kernel = nullptr) override;
  void load_kernel(const void* code) override;
  void note_unused(void* memory, std::size_t bytes) noexcept override;

 private:
  struct State;
  static void go_on();
  static Runtime* installed_;
  void note(const std::string& name, const std::string& what = {});
  [[nodiscard]] Pointer find(const void* address) const;
  std::unique_ptr<State> state_;
  detail::device::Vendor vendor_ = detail::device::Vendor::nvidia;
  std::vector<std::string> record_;
  bool has_flags_ = true;
  int capability_ = 90;
  std::atomic<std::size_t> kernels_{0};
};

}  // namespace tutti::standin
