// SPDX-License-Identifier: BSD-3-Clause
// Vectors that go to the device and come back.
#pragma once

#include <vector>

#include "commbench/memory.hpp"

namespace tutti::test::gpu {

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values, commbench::MemorySpace space = commbench::MemorySpace::device)
      : count_(values.size()), memory_(nullptr, space, values.size() * sizeof(T) + 1) {
    write(values);
  }

  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const { return count_; }
  /// Waits for nothing but its own copy: the caller has synchronised.
  void write(const std::vector<T>& values) const {
    commbench::copy_bytes(memory_.data(), reinterpret_cast<const std::byte*>(values.data()), count_ * sizeof(T));
  }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(count_);
    commbench::copy_bytes(reinterpret_cast<std::byte*>(values.data()), memory_.data(), count_ * sizeof(T));
    return values;
  }

 private:
  std::size_t count_;
  commbench::Memory memory_;
};

template <typename T>
std::vector<T> filled(std::size_t count, T value) {
  return std::vector<T>(count, value);
}

}  // namespace tutti::test::gpu
