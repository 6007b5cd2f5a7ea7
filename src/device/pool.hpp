// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <tutti/buffer.hpp>

#include "device/runtime.hpp"

namespace tutti::detail::device {

class Pool;

/// Memory from a pool, returned by the destructor. Move-only.
class Block {
 public:
  Block() noexcept = default;
  ~Block() { reset(); }
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void reset() noexcept;

 private:
  friend class Pool;
  Block(Pool* pool, std::byte* data, std::size_t size) noexcept : pool_(pool), data_(data), size_(size) {}
  Pool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Pinned or device memory for executions, kept between calls. Allocating through CUDA may wait for the device, which
/// deadlocks while NCCL works there. So a pool grows only while traffic(device) has no NCCL work in flight, and drives
/// the library's progress until then; while a Flag is closed it takes any unused block that is large enough first. A
/// block is handed out again only once no stream uses it: whoever returns it has
/// seen the event that marks its last use. Any thread may call this, but not while it holds Traffic::launch_mutex.
class Pool {
 public:
  /// The pool of a kind (pinned or device) and a device of this process; never destroyed.
  [[nodiscard]] static Pool& of(MemoryKind kind, int device);
  /// Gives at least `bytes` bytes, aligned to 256; empty for 0. Throws out_of_memory, cuda.
  [[nodiscard]] Block acquire(std::size_t bytes);
  /// Allocates this many unused blocks of this size ahead of time, in a phase that may allocate.
  void reserve(std::size_t bytes, std::size_t blocks);
  /// Returns all unused memory to CUDA. Does nothing while that might wait for the device, because NCCL work is in
  /// flight or a Flag is closed.
  void trim() noexcept;
  /// Bytes allocated from CUDA and not yet freed.
  [[nodiscard]] std::size_t held_bytes() const;

 private:
  friend class Block;
  struct State;
  Pool(MemoryKind kind, int device);
  void give_back(std::byte* data, std::size_t size) noexcept;
  [[nodiscard]] Block take_unused(std::size_t bytes, std::size_t most);
  [[nodiscard]] std::byte* grow(std::size_t bytes);
  [[nodiscard]] Block acquire_beside_launch(std::size_t wanted);
  State* state_;
};

class EventPool;

/// An event from a pool, returned by the destructor. Move-only; empty after a move.
class Event {
 public:
  Event() noexcept = default;
  ~Event() { reset(); }
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  /// Records on a stream of a device. The first call takes an event from the pool.
  void record(int device, StreamHandle stream);
  /// Whether the recorded work is done; true if nothing was recorded.
  [[nodiscard]] bool is_complete() const;
  [[nodiscard]] EventHandle handle() const noexcept { return handle_; }
  [[nodiscard]] bool is_recorded() const noexcept { return handle_ != nullptr; }
  void reset() noexcept;

 private:
  EventPool* pool_ = nullptr;
  EventHandle handle_ = nullptr;
};

/// An event that has been recorded on a stream of a device, for several holders.
[[nodiscard]] std::shared_ptr<const Event> recorded(int device, StreamHandle stream);

}  // namespace tutti::detail::device
