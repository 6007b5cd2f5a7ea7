// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/exchange.hpp"
#include "backends/shm/peer_memory.hpp"
#include "backends/shm/reached.hpp"
#include "call/allocations.hpp"
#include "kernels/copy.hpp"

namespace tutti::detail::shm {

/// The range of a rank's buffer that an operation uses: this rank's own, or a buffer that is mapped here (memory of
/// tutti::allocate, else attached by XPMEM), or a buffer that only the kernel can copy.
class Remote {
 public:
  Remote(const Exchange& exchange, int rank, bool output, const ByteRange& range, Reached& reached)
      : process_(exchange.arena->process(rank)),
        location_(chosen(exchange.descriptor(rank), output)),
        begin_(range.offset) {
    if (rank == exchange.arena->rank()) {
      mapped_ = output ? exchange.output() : const_cast<std::byte*>(exchange.source);  // NOLINT: read only as a source
      if (mapped_ != nullptr) mapped_ += begin_;
      return;
    }
    if (location_.allocation != 0)
      mapped_ = Allocations::instance().resolve(location_.allocation, location_.offset + begin_);
    if (mapped_ == nullptr) mapped_ = reached.find(exchange, rank, output, range);
  }

  /// The address for direct loads and stores, or null. Offsets are those of the buffer.
  [[nodiscard]] std::byte* mapped(std::size_t offset) const {
    return mapped_ == nullptr ? nullptr : mapped_ + (offset - begin_);
  }

  void read(std::size_t offset, void* to, std::size_t bytes) const {
    if (const std::byte* from = mapped(offset))
      kernels::copy(to, from, bytes);
    else
      read_memory(process_, location_.address + offset, to, bytes);
  }
  void write(std::size_t offset, const void* from, std::size_t bytes) const {
    if (std::byte* to = mapped(offset))
      kernels::copy(to, from, bytes);
    else
      write_memory(process_, location_.address + offset, from, bytes);
  }

 private:
  static const Location& chosen(const Descriptor& descriptor, bool output) {
    return output ? descriptor.output : descriptor.input;
  }
  pid_t process_;
  const Location& location_;
  std::size_t begin_;            ///< offset of the range in the buffer, in bytes
  std::byte* mapped_ = nullptr;  ///< address of the range
};

}  // namespace tutti::detail::shm
