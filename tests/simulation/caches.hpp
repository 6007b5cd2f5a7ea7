// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "simulation/prices.hpp"
#include "simulation/scheduler.hpp"

namespace tutti::simulation {

/// The caches of a machine whose ranks have a core each: who holds which line of shared memory, when each rank has it,
/// and how many lines have moved. A rank has a clock; the one that is behind all others goes on.
///
/// A load of a line that the core does not hold fetches it, from the same last-level cache if a core there holds it,
/// else from its last writer. A core goes on with further loads meanwhile, unless it has looked at the line before: it
/// waits there for a value. Readers of one line have it one after the other. A store takes the line from all who hold
/// it, while its core goes on, and is seen in the order of the core's stores; until then holders read the old value.
class Caches {
 public:
  Caches(Scheduler& scheduler, const Prices& prices, int ranks);
  ~Caches() { active = nullptr; }
  Caches(const Caches&) = delete;
  Caches& operator=(const Caches&) = delete;

  /// Those of the run that goes on, if a rank runs whose accesses have a price; else null.
  [[nodiscard]] static Caches* current() {
    return active != nullptr && active->has_price_ && Scheduler::here() != nullptr ? active : nullptr;
  }
  /// From now on accesses have a price.
  void begin() { has_price_ = true; }
  void end() { has_price_ = false; }

  // Of the rank that runs
  /// is_looked_at: the rank decides by what it reads.
  void load(const Word& begin, std::size_t bytes, bool is_looked_at);
  /// The value that the rank reads there, of what the memory holds.
  [[nodiscard]] std::uint64_t seen(const Word& word, std::uint64_t newest) const;
  void store(const Word& begin, std::size_t bytes);
  /// A change that reads what it replaces, which waits for the line.
  void change(const Word& word);
  /// The value that the store or change replaces, for those who still read it.
  void keep(const Word& word, std::uint64_t before);
  void fence();
  /// Instructions.
  void work(double nanoseconds) { me().clock += nanoseconds; }
  /// A call of the kernel by which a rank that waits lets others run.
  void yield() { work(200 * prices_.look); }
  /// Waits until no other rank is behind.
  void await_turn();

  /// A call begins at the same time on all ranks: each leaves the call before, all meet, and enter.
  void leave();
  void enter();
  /// The time since then.
  [[nodiscard]] double since_entry() const;

  /// Lines that have moved to another core, by distance, and lines that stores have taken from others.
  struct Moved {
    std::array<std::uint64_t, distances> lines{};
    std::array<std::uint64_t, distances> taken{};
  };
  [[nodiscard]] const Moved& moved() const { return moved_; }

  /// The rank that goes on.
  [[nodiscard]] int choose(const std::vector<int>& ready);

 private:
  static constexpr std::size_t most_cores = 256;
  using Cores = std::bitset<most_cores>;
  using Key = std::uint64_t;
  struct Old {
    std::size_t offset;
    std::uint64_t value;
  };
  struct Line {
    int owner = -1;  ///< the last that has written
    Cores holders{};
    Cores old_holders{};  ///< those who hold what was there before the stores under way
    double seen_at = 0;   ///< when the last store is seen
    double free_at = 0;   ///< when the next request has its turn
    std::vector<Old> old{};
    std::vector<int> waiting{};
  };
  struct Rank {
    double clock = 0;      ///< when the next instruction begins
    double loaded = 0;     ///< when all loads have ended
    double stored = 0;     ///< when all stores are seen
    double next_load = 0;  ///< when a further line can be fetched
    double next_store = 0;
    bool runs = false;
    bool waits = false;                             ///< until a line changes that it has looked at
    Key last = ~Key{0};                             ///< the line of its last load
    std::uint32_t looks = 0;                        ///< since anything but looks at lines that it holds
    std::vector<std::pair<Key, double>> fetched{};  ///< lines under way
    std::vector<Key> watched{};
  };

  [[nodiscard]] static Key key_of(const Word& word) {
    return static_cast<Key>(word.segment) << 48U | static_cast<Key>(word.offset / 64);
  }
  [[nodiscard]] Rank& me() { return ranks_[static_cast<std::size_t>(scheduler_.rank())]; }
  [[nodiscard]] const Rank& me() const { return ranks_[static_cast<std::size_t>(scheduler_.rank())]; }
  void load_line(Key key, bool is_looked_at);
  void store_line(Key key, bool waits);
  [[nodiscard]] bool has_waited(Rank& rank, Key key);
  void fetch(Rank& rank, Key key, Line& line);
  void wait_for_change(Rank& rank);
  [[nodiscard]] Distance source_of(const Line& line, int core) const;
  [[nodiscard]] Distance farthest_holder(const Line& line, int core) const;
  [[nodiscard]] double pass(Distance distance, int core, double time);
  void wake(Line& line);
  void clear_looks(Rank& rank);

  static inline Caches* active = nullptr;
  Scheduler& scheduler_;
  const Prices prices_;
  std::vector<Rank> ranks_;
  std::unordered_map<Key, Line> lines_;
  std::vector<double> ports_;  ///< of last-level caches: when they are free
  std::vector<double> links_;  ///< of sockets
  Moved moved_{};
  double start_ = 0;
  double next_start_ = 0;
  bool has_price_ = false;
};

}  // namespace tutti::simulation
