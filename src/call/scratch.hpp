// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tutti::detail {

/// The scratch memory of executions, kept between calls so that a repeated call faults in no new pages.
class ScratchPool {
 public:
  struct Block {
    std::unique_ptr<std::byte[]> memory;
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
    return {std::make_unique_for_overwrite<std::byte[]>(bytes), bytes};
  }

  void release(Block block) {
    if (block.bytes == 0) return;
    const std::lock_guard lock(mutex_);
    if (kept_ + block.bytes > most_kept) return;
    kept_ += block.bytes;
    free_.push_back(std::move(block));
  }

 private:
  static constexpr std::size_t most_kept = std::size_t{256} << 20U;
  std::mutex mutex_;
  std::vector<Block> free_;
  std::size_t kept_ = 0;
};

}  // namespace tutti::detail
