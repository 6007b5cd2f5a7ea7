// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "backends/shm/arena.hpp"
#include "simulation/scheduler.hpp"

namespace tutti::simulation {

/// The arenas of a run: each is mapped once for each of its ranks, as in processes.
class SharedMemory {
 public:
  explicit SharedMemory(int ranks) : views_(static_cast<std::size_t>(ranks)) { active = this; }
  ~SharedMemory() { active = nullptr; }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// The shared memory of the run that goes on, or null.
  [[nodiscard]] static SharedMemory* current() { return active; }

  /// A rank has mapped the arena of a communicator, until it forgets it.
  void add(int rank, int communicator, detail::shm::Arena& arena);
  void forget(int rank) { views_[static_cast<std::size_t>(rank)].clear(); }

  /// The word at an address of a rank; its segment is -1 if that is not shared.
  [[nodiscard]] Word find(int rank, const void* address) const;
  [[nodiscard]] bool has(int rank, const void* address) const { return find(rank, address).segment >= 0; }

  /// A rank's arenas.
  [[nodiscard]] std::vector<detail::shm::Arena*> arenas(int rank) const;

 private:
  struct View {
    const std::byte* begin;
    std::size_t bytes;
    int communicator;
    detail::shm::Arena* arena;
  };
  static inline SharedMemory* active = nullptr;
  std::vector<std::vector<View>> views_;  ///< by rank
};

}  // namespace tutti::simulation
