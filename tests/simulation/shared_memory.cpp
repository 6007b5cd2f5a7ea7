// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/shared_memory.hpp"

namespace tutti::simulation {

void SharedMemory::add(int rank, int communicator, detail::shm::Arena& arena) {
  const auto* begin = reinterpret_cast<const std::byte*>(&arena.head());
  const std::size_t bytes = detail::shm::Layout(arena.size()).total(arena.size());
  views_[static_cast<std::size_t>(rank)].push_back({begin, bytes, communicator, &arena});
}

Word SharedMemory::find(int rank, const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  for (const View& view : views_[static_cast<std::size_t>(rank)])
    if (byte >= view.begin && byte < view.begin + view.bytes)
      return {view.communicator, static_cast<std::size_t>(byte - view.begin)};
  return {};
}

std::vector<detail::shm::Arena*> SharedMemory::arenas(int rank) const {
  std::vector<detail::shm::Arena*> all;
  for (const View& view : views_[static_cast<std::size_t>(rank)]) all.push_back(view.arena);
  return all;
}

}  // namespace tutti::simulation
