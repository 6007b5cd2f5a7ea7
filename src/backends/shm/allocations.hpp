// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace tutti::detail::shm {

/// The memory of tutti::allocate that this process has mapped: its own parts, and those of the other ranks of its node.
class Allocations {
 public:
  static Allocations& instance();

  /// id: of one rank's part, equal in all processes that map it, never 0.
  void add(std::uint64_t id, std::byte* data, std::size_t bytes, bool own);
  void remove(std::uint64_t id) noexcept;

  /// The own part that an address lies in; false, and nothing changed, where there is none.
  bool find(const void* address, std::uint64_t& id, std::uint64_t& offset) const;
  /// Where a part is mapped in this process, or null.
  [[nodiscard]] std::byte* resolve(std::uint64_t id, std::uint64_t offset) const;

 private:
  struct Part {
    std::uint64_t id;
    std::byte* data;
    std::size_t bytes;
    bool own;
  };
  mutable std::mutex mutex_;
  std::vector<Part> parts_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace tutti::detail::shm
