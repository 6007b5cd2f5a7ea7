// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

namespace tutti::c {

/// The objects behind the handles of one kind. A handle is no address: it is the number of a slot, the kind, and how
/// often the slot has been taken. A copy of a handle that was freed, or garbage, is therefore found to be none, and
/// nothing is read through it. Any thread.
template <typename Record>
class HandleTable {
 public:
  constexpr explicit HandleTable(unsigned kind) noexcept : kind_(kind) {}
  // Never destroyed: handles may be freed after the statics of the library.
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  /// Returns a new handle, never 0. Throws bad_alloc if there is no memory, or a million handles of this kind.
  [[nodiscard]] std::uintptr_t insert(Record&& record) {
    Slot& slot = take();
    ::new (static_cast<void*>(slot.memory)) Record(std::move(record));
    const std::uintptr_t handle = slot.next_handle;
    slot.handle.store(handle, std::memory_order_release);
    return handle;
  }
  /// The object of a handle; nullptr if there is none.
  [[nodiscard]] Record* find(std::uintptr_t handle) const noexcept {
    const std::size_t number = handle & (most_slots - 1);
    Slot* block = blocks_[number / block_slots].load(std::memory_order_acquire);
    if (block == nullptr) return nullptr;
    Slot& slot = block[number % block_slots];
    return handle != 0 && slot.handle.load(std::memory_order_acquire) == handle ? slot.record() : nullptr;
  }
  /// Destroys the object of a handle. Returns false if there is none.
  bool erase(std::uintptr_t handle) noexcept {
    if (find(handle) == nullptr) return false;
    const std::size_t number = handle & (most_slots - 1);
    Slot& slot = slot_at(number);
    if (!slot.handle.compare_exchange_strong(handle, 0)) return false;
    slot.record()->~Record();
    slot.next_handle += std::uintptr_t{1} << generation_begin;
    give(number);
    return true;
  }

 private:
  static_assert(sizeof(std::uintptr_t) == 8, "the parts of a handle need 64 bits");
  static constexpr unsigned kind_begin = 20;
  static constexpr unsigned generation_begin = 24;
  static constexpr std::size_t most_slots = std::size_t{1} << kind_begin;
  static constexpr std::size_t block_slots = 256;
  static constexpr std::uint64_t number_bits = 0xFFFFFFFFU;

  struct Slot {
    std::atomic<std::uintptr_t> handle{0};  ///< 0: free
    std::uintptr_t next_handle = 0;
    std::atomic<std::uint32_t> next_free{0};
    alignas(Record) std::byte memory[sizeof(Record)];
    [[nodiscard]] Record* record() noexcept { return std::launder(reinterpret_cast<Record*>(memory)); }
  };

  [[nodiscard]] Slot& slot_at(std::size_t number) const noexcept {
    return blocks_[number / block_slots].load(std::memory_order_acquire)[number % block_slots];
  }
  // The free slots are a stack; the upper half of its head counts changes, so that a head that has come back is seen.
  [[nodiscard]] static std::uint64_t head_after(std::uint64_t head, std::uint64_t first) noexcept {
    return ((head >> 32U) + 1) << 32U | first;
  }
  void give(std::size_t number) noexcept {
    std::uint64_t head = free_.load();
    // The exchange passes it on.
    do slot_at(number).next_free.store(static_cast<std::uint32_t>(head & number_bits), std::memory_order_relaxed);
    while (!free_.compare_exchange_weak(head, head_after(head, number + 1)));
  }
  [[nodiscard]] Slot& take() {
    std::uint64_t head = free_.load();
    for (;;) {
      if ((head & number_bits) == 0) {
        grow();
        head = free_.load();
        continue;
      }
      Slot& slot = slot_at((head & number_bits) - 1);
      if (free_.compare_exchange_weak(head, head_after(head, slot.next_free.load()))) return slot;
    }
  }
  void grow() {
    const std::lock_guard lock(mutex_);
    if ((free_.load() & number_bits) != 0) return;
    if (used_blocks_ == blocks_.size()) throw std::bad_alloc();
    auto block = std::make_unique<Slot[]>(block_slots);
    const std::size_t first = used_blocks_ * block_slots;
    for (std::size_t i = 0; i < block_slots; ++i)
      block[i].next_handle = std::uintptr_t{1} << generation_begin | std::uintptr_t{kind_} << kind_begin | (first + i);
    blocks_[used_blocks_++].store(block.release(), std::memory_order_release);
    for (std::size_t i = block_slots; i > 0; --i) give(first + i - 1);
  }

  std::array<std::atomic<Slot*>, most_slots / block_slots> blocks_{};
  std::atomic<std::uint64_t> free_{0};  ///< number of the first free slot, plus 1; 0: none
  std::mutex mutex_;
  std::size_t used_blocks_ = 0;
  unsigned kind_;
};

/// The records behind handles that are numbers, which are never reused: `first`, `first` + `step` and so on. A call
/// that has found a record keeps it. Any thread.
template <typename Record>
class NumberTable {
 public:
  NumberTable(std::int64_t first, std::int64_t step) : next_(first), step_(step) {}
  [[nodiscard]] std::int64_t insert(Record record) {
    const std::lock_guard lock(mutex_);
    records_.emplace(next_, std::make_shared<Record>(std::move(record)));
    return std::exchange(next_, next_ + step_);
  }
  /// Empty if there is none.
  [[nodiscard]] std::shared_ptr<Record> find(std::int64_t handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = records_.find(handle);
    return found == records_.end() ? nullptr : found->second;
  }
  /// Returns false if there is none.
  [[nodiscard]] bool erase(std::int64_t handle) {
    const std::lock_guard lock(mutex_);
    return records_.erase(handle) > 0;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::int64_t, std::shared_ptr<Record>> records_;
  std::int64_t next_;
  std::int64_t step_;
};

}  // namespace tutti::c
