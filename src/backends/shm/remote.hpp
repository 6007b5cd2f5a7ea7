// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>

#include "backends/shm/exchange.hpp"
#include "backends/shm/memory_access.hpp"
#include "call/allocations.hpp"

namespace tutti::detail::shm {

/// A buffer of a rank: this rank's own, a buffer that is mapped here, or a buffer that only the kernel can copy.
class Remote {
 public:
  Remote(const Exchange& exchange, int rank, bool output)
      : process_(exchange.arena->process(rank)), location_(chosen(exchange.descriptor(rank), output)) {
    if (rank == exchange.arena->rank()) {
      mapped_ = output ? exchange.output() : const_cast<std::byte*>(exchange.source);  // NOLINT: read only as a source
    } else if (location_.allocation != 0) {
      mapped_ = Allocations::instance().resolve(location_.allocation, location_.offset);
    }
  }

  /// The address for direct loads and stores, or null.
  [[nodiscard]] std::byte* mapped(std::size_t offset) const { return mapped_ == nullptr ? nullptr : mapped_ + offset; }

  void read(std::size_t offset, void* to, std::size_t bytes) const {
    if (mapped_ != nullptr)
      std::memcpy(to, mapped_ + offset, bytes);
    else
      read_memory(process_, location_.address + offset, to, bytes);
  }
  void write(std::size_t offset, const void* from, std::size_t bytes) const {
    if (mapped_ != nullptr)
      std::memcpy(mapped_ + offset, from, bytes);
    else
      write_memory(process_, location_.address + offset, from, bytes);
  }

 private:
  static const Location& chosen(const Descriptor& descriptor, bool output) {
    return output ? descriptor.output : descriptor.input;
  }
  pid_t process_;
  const Location& location_;
  std::byte* mapped_ = nullptr;
};

}  // namespace tutti::detail::shm
