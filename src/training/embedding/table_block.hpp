// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/buffer.hpp>
#include <tutti/kernels/table_memory.hpp>
#include <utility>

namespace tutti::detail {

/// Memory of rows or of their state: host memory as kernels::allocate_table, or exactly as many bytes on the current
/// device, asked for and returned while no NCCL work is in flight there. Move-only.
class TableBlock {
 public:
  /// Host memory is zeroed. Throws out_of_memory.
  TableBlock(std::size_t bytes, MemoryKind kind);
  ~TableBlock();
  TableBlock(TableBlock&& other) noexcept
      : host_(std::move(other.host_)),
        data_(std::exchange(other.data_, nullptr)),
        bytes_(other.bytes_),
        device_(other.device_) {}
  TableBlock& operator=(TableBlock&&) = delete;
  TableBlock(const TableBlock&) = delete;
  TableBlock& operator=(const TableBlock&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  /// As asked for.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// With what the system adds.
  [[nodiscard]] std::size_t taken() const { return host_ ? host_.get_deleter().bytes : bytes_; }

 private:
  kernels::TableMemory host_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  int device_ = -1;
};

}  // namespace tutti::detail
