// SPDX-License-Identifier: BSD-3-Clause
#include "call/allocations.hpp"

namespace tutti::detail::shm {

Allocations& Allocations::instance() {
  // Never destroyed, because allocations of static objects may end after the statics of this file.
  static auto* all = new Allocations;
  return *all;
}

void Allocations::add(std::uint64_t id, std::byte* data, std::size_t bytes, bool own) {
  const std::unique_lock lock(mutex_);
  parts_[id] = data;
  if (own) own_[data] = {bytes, id};
  own_count_.store(own_.size(), std::memory_order_release);
}

void Allocations::remove(std::span<const std::uint64_t> ids) noexcept {
  {
    const std::unique_lock lock(mutex_);
    for (const std::uint64_t id : ids) {
      const auto part = parts_.find(id);
      if (part == parts_.end()) continue;
      const auto own = own_.find(part->second);
      if (own != own_.end() && own->second.id == id) own_.erase(own);
      parts_.erase(part);
    }
    own_count_.store(own_.size(), std::memory_order_release);
  }
  // A thread that has resolved one of them holds a shared lock; from now on no thread finds it.
  const std::unique_lock none_uses_it(in_use_);
}

bool Allocations::find(const void* address, std::uint64_t& id, std::uint64_t& offset) const {
  if (own_count_.load(std::memory_order_acquire) == 0) return false;
  const auto* at = static_cast<const std::byte*>(address);
  const std::shared_lock lock(mutex_);
  auto next = own_.upper_bound(at);
  if (next == own_.begin()) return false;
  const auto& [begin, part] = *--next;
  const auto distance = static_cast<std::size_t>(at - begin);
  if (distance >= part.bytes) return false;
  id = part.id;
  offset = distance;
  return true;
}

std::byte* Allocations::resolve(std::uint64_t id, std::uint64_t offset) const {
  const std::shared_lock lock(mutex_);
  const auto part = parts_.find(id);
  return part == parts_.end() ? nullptr : part->second + offset;
}

}  // namespace tutti::detail::shm
