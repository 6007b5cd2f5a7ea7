// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/shm/arena.hpp"
#include "simulation/scheduler.hpp"

namespace tutti::simulation {

/// The memory that ranks of a run share: files, which each of them has mapped at another address, as in processes.
class SharedMemory {
 public:
  SharedMemory(int ranks, bool kernel_copies)
      : kernel_copies_(kernel_copies),
        mappings_(static_cast<std::size_t>(ranks)),
        arenas_(static_cast<std::size_t>(ranks)) {
    active = this;
  }
  ~SharedMemory() { active = nullptr; }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// The shared memory of the run that goes on, or null.
  [[nodiscard]] static SharedMemory* current() { return active; }

  /// Whether the kernel copies between memories of ranks.
  [[nodiscard]] bool has_kernel_copies() const { return kernel_copies_; }

  /// A rank has mapped a file that others may map too, until it unmaps it.
  void map(int rank, const void* begin, std::size_t bytes, std::uint64_t file);
  void unmap(int rank, const void* begin);

  /// The word at an address of a rank: in a file, or in what is the rank's own.
  [[nodiscard]] Word find(int rank, const void* address) const;
  static constexpr int own = 0;
  [[nodiscard]] static Word own_word(const void* address) { return {own, reinterpret_cast<std::size_t>(address)}; }
  [[nodiscard]] bool has(int rank, const void* address) const { return find(rank, address).segment != own; }

  /// A rank's arenas, in which faults can be planted until it forgets them.
  void add(int rank, detail::shm::Arena& arena) { arenas_[static_cast<std::size_t>(rank)].push_back(&arena); }
  void forget(int rank) { arenas_[static_cast<std::size_t>(rank)].clear(); }
  [[nodiscard]] const std::vector<detail::shm::Arena*>& arenas(int rank) const {
    return arenas_[static_cast<std::size_t>(rank)];
  }

 private:
  struct Mapping {
    const std::byte* begin;
    std::size_t bytes;
    std::uint64_t file;
    int segment;
  };
  static inline SharedMemory* active = nullptr;
  const bool kernel_copies_;
  std::vector<std::vector<Mapping>> mappings_;            ///< by rank
  std::vector<std::vector<detail::shm::Arena*>> arenas_;  ///< by rank
  int last_segment_ = own;
};

}  // namespace tutti::simulation
