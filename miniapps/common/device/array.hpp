// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/device.hpp>
#include <type_traits>

namespace tutti::miniapps::device {

/// `size` values in memory of the current device, or in pinned host memory: a DeviceMemory of values. Undefined at
/// first.
template <typename T, MemoryKind kind = MemoryKind::device>
requires std::is_trivially_copyable_v<T>
class Array {
 public:
  Array() noexcept = default;
  explicit Array(std::size_t size) : memory_(kind, size * sizeof(T)) {}

  [[nodiscard]] T* data() const noexcept { return reinterpret_cast<T*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes() / sizeof(T); }
  [[nodiscard]] std::size_t bytes() const noexcept { return memory_.size(); }
  /// The host reads and writes it only where it is pinned.
  [[nodiscard]] std::span<T> span() const noexcept { return {data(), size()}; }

 private:
  DeviceMemory memory_;
};

template <typename T>
using PinnedArray = Array<T, MemoryKind::pinned>;

}  // namespace tutti::miniapps::device
