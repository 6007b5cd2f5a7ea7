// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace tutti::test {

/// Addresses without memory, of which the system gives what is touched: zeros at first.
class FarMemory {
 public:
  explicit FarMemory(std::size_t bytes)
      : bytes_(bytes),
        memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    // What is touched is a few bytes at a place, for which a large page is too much.
    if (is_there()) madvise(memory_, bytes_, MADV_NOHUGEPAGE);
  }
  ~FarMemory() {
    if (is_there()) munmap(memory_, bytes_);
  }
  FarMemory(const FarMemory&) = delete;
  FarMemory& operator=(const FarMemory&) = delete;

  /// False where the system gives no addresses without memory.
  [[nodiscard]] bool is_there() const { return memory_ != MAP_FAILED; }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_;
};

}  // namespace tutti::test
