// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "simulation/clocks.hpp"
#include "simulation/orders.hpp"
#include "simulation/races.hpp"
#include "simulation/scheduler.hpp"
#include "simulation/sparse.hpp"

namespace tutti::simulation {

/// The memory of C++ as weakly ordered processors show it: RC11 (Lahav et al., PLDI 2017) by views, as the promising
/// semantics have them (Kang et al., POPL 2017), without promises. A load of an atomic object may read any store that
/// the rank's view does not hide, and the seed chooses. Accesses that are not atomic must be ordered: if two race, the
/// program is wrong, whatever it reads. Left out, as in RC11: loads that read what depends on them.
class WeakMemory {
 public:
  WeakMemory(Scheduler& scheduler, int ranks);
  ~WeakMemory() { active = nullptr; }
  WeakMemory(const WeakMemory&) = delete;
  WeakMemory& operator=(const WeakMemory&) = delete;

  /// The memory of the run that goes on, or null; null also while a Pause lives.
  [[nodiscard]] static WeakMemory* current() { return paused == 0 ? idle() : nullptr; }
  /// The same, whether or not a Pause lives.
  [[nodiscard]] static WeakMemory* idle() { return is_busy ? nullptr : active; }

  /// Accesses that belong to nobody: those of the simulation itself.
  class Pause {
   public:
    Pause() { ++paused; }
    ~Pause() { --paused; }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
  };

  // Of the rank that runs. A race fails the run.
  void touch(const Touch& touch, bool makes = true);
  void begin_stream(const Touch& touch);
  void end_streams();
  /// newest: the value that the memory holds. changes: the load is that of a change, which reads the newest.
  [[nodiscard]] std::uint64_t load(const Touch& touch, std::uint64_t newest, std::memory_order order, bool changes);
  /// A store, or a change that reads what it replaces. Returns the value that the memory holds from now on.
  [[nodiscard]] std::uint64_t store(const Touch& touch, std::uint64_t newest, std::uint64_t value,
                                    std::memory_order order, bool changes);
  void fence(std::memory_order order);
  /// What the rank knows, for those who get a message of it.
  [[nodiscard]] Knowledge tell();
  void learn(const Knowledge& told);

  /// Memory is given back to its allocator.
  void forget(const Word& begin, std::size_t bytes);
  /// All ranks know all of all.
  void meet();

 private:
  struct Store {
    std::uint64_t value = 0;
    bool changes = false;                           ///< it has read the store before it
    Knowledge told{};                               ///< to those who acquire it
    std::array<std::uint32_t, most_clocks> seen{};  ///< the first step at which each rank knew it; 0: none yet
  };
  struct Rank {
    Knowledge now{};
    Knowledge loaded{};  ///< told by stores that it has read, for its next acquire fence
    Knowledge fenced{};  ///< at its last release fence
  };
  using Stores = std::deque<Store>;
  /// What the model itself allocates and copies.
  class Work {
   public:
    Work() { is_busy = true; }
    ~Work() { is_busy = false; }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
  };

  [[nodiscard]] Rank& me() { return ranks_[static_cast<std::size_t>(scheduler_.rank())]; }
  void step();
  void require(const std::string& problem);
  void forget_stores(const Word& begin, std::size_t bytes);
  [[nodiscard]] Stores& stores_of(const Word& word, std::uint64_t newest);
  [[nodiscard]] std::size_t oldest_visible(const Stores& stores);
  [[nodiscard]] std::size_t place_of_store(const Stores& stores);
  void take_in(const Store& store, std::memory_order order);

  static inline WeakMemory* active = nullptr;
  static inline int paused = 0;
  static inline bool is_busy = false;
  Scheduler& scheduler_;
  std::vector<Rank> ranks_;
  Races races_;
  Knowledge fences_{};  ///< of sequential consistency, all together
  Sparse<Stores> stores_;
};

}  // namespace tutti::simulation
