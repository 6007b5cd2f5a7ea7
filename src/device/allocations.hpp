// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <tutti/buffer.hpp>
#include <vector>

namespace tutti::detail::device {

/// The pinned, device and managed memory of tutti::allocate in this process. Any thread.
class Allocations {
 public:
  struct AddressRange {
    std::byte* base = nullptr;
    std::size_t bytes = 0;
    std::uint64_t id = 0;  ///< never reused, so that a new range at an old address is told apart
    MemoryKind kind = MemoryKind::device;
    int device = 0;
  };

  /// While it lives, retired memory stays, so that what is registered does not change.
  class Hold {
   public:
    Hold();
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
  };

  static Allocations& instance();

  /// Adds a range and returns its number. `release` frees its memory.
  std::uint64_t add(std::byte* base, std::size_t bytes, MemoryKind kind, int device, std::function<void()> release);
  /// Forgets a range at once. Its memory is released when no NCCL work is in flight on its device and no stream of it
  /// is captured: now, or in a later call of sweep().
  void retire(std::uint64_t id) noexcept;
  /// Releases retired memory that can be released now. Waits for the program's kernels, as cudaFree does.
  void sweep() noexcept;

  /// The range that an address lies in. Fast if there are no ranges.
  [[nodiscard]] std::optional<AddressRange> find(const void* address) const;

  /// Calls `before_release` once, when no NCCL work is in flight any more and before the memory of range `id` is
  /// released, so that it can be deregistered. False if the range is gone already. The function must not call this
  /// class, nor take a lock that is held while this class is called.
  bool watch(std::uint64_t id, const void* watcher, std::function<void()> before_release);
  /// Forgets all functions of a watcher. On return none of them is running.
  void unwatch(const void* watcher) noexcept;

 private:
  struct Watcher {
    const void* who;
    std::function<void()> before_release;
  };
  struct Entry {
    AddressRange range{};
    std::uint64_t generation = 0;
    std::function<void()> release{};
    std::vector<Watcher> watchers{};
  };

  Allocations() = default;
  /// False if that has to wait; nothing has changed then.
  static bool end(Entry& entry) noexcept;
  [[nodiscard]] static bool finish_work_on(const AddressRange& range) noexcept;

  mutable std::shared_mutex mutex_;  ///< guards both lists; never held while a function is called
  std::mutex ending_;                ///< held while functions are called; taken before mutex_
  std::map<const std::byte*, Entry, std::less<>> live_;
  std::vector<Entry> retired_;
  int holds_ = 0;                      ///< guarded by ending_
  std::atomic<std::size_t> count_{0};  ///< live ranges
  std::uint64_t last_id_ = 0;
};

}  // namespace tutti::detail::device
