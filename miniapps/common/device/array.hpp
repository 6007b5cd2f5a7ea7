// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "device/pool.hpp"

namespace tutti::miniapps::device {

/// `size` values in memory of the current device, or in pinned host memory; undefined at first. From the library's
/// pools, so that it may be made while communication is under way, and ended when no stream uses it any more.
/// Move-only. Throws not_built, out_of_memory, cuda.
template <typename T, MemoryKind kind = MemoryKind::device>
requires std::is_trivially_copyable_v<T>
class Array {
 public:
  Array() noexcept = default;
  explicit Array(std::size_t size)
      : block_(detail::device::Pool::of(kind, detail::device::required_runtime("device memory").current_device())
                   .acquire(size * sizeof(T))),
        size_(size) {}

  [[nodiscard]] T* data() const noexcept { return reinterpret_cast<T*>(block_.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }
  /// The host reads and writes it only where it is pinned.
  [[nodiscard]] std::span<T> span() const noexcept { return {data(), size_}; }

 private:
  detail::device::Block block_;
  std::size_t size_ = 0;
};

template <typename T>
using PinnedArray = Array<T, MemoryKind::pinned>;

}  // namespace tutti::miniapps::device
