// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/allocations.hpp"

#include <functional>

namespace tutti::detail::shm {

Allocations& Allocations::instance() {
  // Never destroyed: allocations of static objects may end after the statics of this file.
  static auto* all = new Allocations;
  return *all;
}

void Allocations::add(std::uint64_t id, std::byte* data, std::size_t bytes, bool own) {
  const std::lock_guard lock(mutex_);
  parts_.push_back({id, data, bytes, own});
  count_.store(parts_.size(), std::memory_order_release);
}

void Allocations::remove(std::uint64_t id) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(parts_, [id](const Part& part) { return part.id == id; });
  count_.store(parts_.size(), std::memory_order_release);
}

bool Allocations::find(const void* address, std::uint64_t& id, std::uint64_t& offset) const {
  if (count_.load(std::memory_order_acquire) == 0) return false;
  const auto* at = static_cast<const std::byte*>(address);
  const std::lock_guard lock(mutex_);
  for (const Part& part : parts_) {
    if (!part.own || std::less<>{}(at, part.data) || !std::less<>{}(at, part.data + part.bytes)) continue;
    id = part.id;
    offset = static_cast<std::uint64_t>(at - part.data);
    return true;
  }
  return false;
}

std::byte* Allocations::resolve(std::uint64_t id, std::uint64_t offset) const {
  const std::lock_guard lock(mutex_);
  for (const Part& part : parts_)
    if (part.id == id) return part.data + offset;
  return nullptr;
}

}  // namespace tutti::detail::shm
