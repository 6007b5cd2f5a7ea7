// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/buffer.hpp>
#include <tutti/kernels/table_memory.hpp>
#include <vector>

#include "collectives/services.hpp"

namespace tutti::detail {

/// The memory of a rank's tables: host memory from kernels::allocate_table, or memory of the current device. Move-only.
class TableBlock {
 public:
  TableBlock() = default;
  /// Host memory is zeroed. Throws out_of_memory.
  TableBlock(std::size_t bytes, MemoryKind kind) : bytes_(bytes) {
    if (bytes == 0) return;
    if (kind == MemoryKind::host)
      host_ = kernels::allocate_table(bytes);
    else
      device_ = services::allocate_on_device(bytes);
  }

  [[nodiscard]] std::byte* data() const { return host_ ? host_.get() : device_.get(); }
  /// Bytes as asked for.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  kernels::TableMemory host_;
  services::DeviceMemory device_;
  std::size_t bytes_ = 0;
};

/// Memory of vectors and gradients, on the host or on the current device, where it is undefined at first. Destroy it
/// only when no stream uses it any more.
template <typename T>
class ValueMemory {
 public:
  void resize(std::size_t n, MemoryKind kind) {
    if (kind == MemoryKind::host) {
      host_.resize(n);
      data_ = host_.data();
      return;
    }
    const int device = device::required_runtime("vectors on a device").current_device();
    block_ = device::Pool::of(kind, device).acquire(n * sizeof(T));
    data_ = reinterpret_cast<T*>(block_.data());
  }
  /// On a device, registered as tutti::allocate does. Collective, and `n` is equal on all ranks.
  void resize_registered(const Communicator& comm, std::size_t n) {
    registered_ = allocate(comm, n * sizeof(T), MemoryKind::device);
    data_ = static_cast<T*>(registered_.data());
  }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }

 private:
  std::vector<T> host_;
  device::Block block_;
  Allocation registered_;
  T* data_ = nullptr;
};
using FloatMemory = ValueMemory<float>;

}  // namespace tutti::detail
