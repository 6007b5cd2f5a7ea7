// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>

namespace tutti::standin {

/// The device memory of all stand-ins of this process: host memory without access. The first touch by work of a stream
/// opens a part of it until that work is over, since to open all takes time by the bytes that were ever used; a touch
/// by anybody else ends the process and says where. What is freed holds bytes 0xdd. While one thread works, touches of
/// another one are not seen in the parts that are open.
class DeviceArena {
 public:
  /// Never destroyed.
  [[nodiscard]] static DeviceArena& instance();

  /// Aligned to 4096, bytes 0xff; null where there is no room.
  [[nodiscard]] void* allocate(std::size_t bytes);
  void release(void* address) noexcept;
  /// Device memory is opened at once, not one part after the other by their first touches.
  void fill(void* address, int value, std::size_t bytes) noexcept;
  [[nodiscard]] bool holds(const void* address) const noexcept;

  /// From now on everybody may touch it, or no more: for an MPI that takes device memory.
  void keep_open(bool is_kept) noexcept;

  /// Before kernels as host functions: the threads with which Kokkos shares this thread's loops may touch the memory
  /// while anybody works.
  static void find_helpers();

  /// While it lives, this thread may touch the memory, as the device does.
  class Work {
   public:
    Work() noexcept;
    ~Work();
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
  };

 private:
  DeviceArena();
  static void on_fault(int signal, void* info, void* context);
  void install() noexcept;
  [[nodiscard]] bool open_for(const void* address) noexcept;
  void close() noexcept;
  void set_access(std::size_t part, std::size_t count, bool is_open) noexcept;

  // Small: to open and to close a part takes time by its pages, and most work touches a few thousand bytes.
  static constexpr std::size_t part_bytes = std::size_t{1} << 16U;
  static constexpr std::size_t parts = 131072;

  std::byte* base_ = nullptr;
  std::atomic<std::size_t> end_{0};  ///< all pieces lie before it
  std::atomic<int> working_{0};
  std::atomic<bool> is_kept_open_{false};
  std::array<std::atomic<bool>, parts> is_open_{};  ///< true for every part that is open
  std::atomic<bool> has_open_{false};
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> free_;  ///< sizes by offset, none beside another
  std::map<std::size_t, std::size_t> pieces_;
};

/// For tests: while it lives the host may touch device memory, as no host may that has a GPU.
using HostAccess = DeviceArena::Work;

}  // namespace tutti::standin
