// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <unordered_map>

namespace tutti::detail::shm {

/// The memory of tutti::allocate that this process has mapped: its own parts, and those of the other ranks of its node.
class Allocations {
 public:
  static Allocations& instance();

  /// Adds one rank's part under an id that is equal in all processes that map the part, and never 0.
  void add(std::uint64_t id, std::byte* data, std::size_t bytes, bool own);
  /// Returns once no thread uses the parts, so that they can be unmapped.
  void remove(std::span<const std::uint64_t> ids) noexcept;

  /// Finds this rank's own part that holds an address. Returns false and changes nothing if there is none.
  bool find(const void* address, std::uint64_t& id, std::uint64_t& offset) const;
  /// The address of a part in this process, or null.
  [[nodiscard]] std::byte* resolve(std::uint64_t id, std::uint64_t offset) const;

  /// Keeps the results of resolve mapped while it is held, even if another thread frees them. One per thread.
  using Use = std::shared_lock<std::shared_mutex>;
  [[nodiscard]] Use use() const { return Use(in_use_); }

 private:
  struct Own {
    std::size_t bytes;
    std::uint64_t id;
  };
  mutable std::shared_mutex mutex_;
  mutable std::shared_mutex in_use_;
  std::unordered_map<std::uint64_t, std::byte*> parts_;
  std::map<const std::byte*, Own, std::less<>> own_;  ///< by start address
  std::atomic<std::size_t> own_count_{0};
};

}  // namespace tutti::detail::shm
