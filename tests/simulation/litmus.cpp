// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/litmus.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <vector>

#include "kernels/copy.hpp"
#include "simulation/scheduler.hpp"
#include "simulation/shared_memory.hpp"
#include "simulation/weak_memory.hpp"

namespace tutti::simulation {
namespace {

using enum std::memory_order;

struct Page {
  alignas(64) std::atomic<std::uint64_t> x{0};
  alignas(64) std::atomic<std::uint64_t> y{0};
  alignas(64) std::uint64_t data{0};
  alignas(64) std::array<std::byte, 128> block{};
};
/// What the ranks have read.
using Seen = std::array<std::uint64_t, 8>;

struct Litmus {
  const char* name;
  int ranks;
  void (*play)(int rank, Page& page, Seen& seen);
  bool (*shows)(const Seen& seen);
  bool may;            ///< it is seen with some seed; else with none
  bool races = false;  ///< some seed finds a race; else none does
};

template <std::memory_order store, std::memory_order load>
void pass_message(int rank, Page& page, Seen& seen) {
  if (rank == 0) {
    page.x.store(1, relaxed);
    page.y.store(1, store);
  } else {
    seen[0] = page.y.load(load);
    seen[1] = page.x.load(relaxed);
  }
}

void pass_message_by_fences(int rank, Page& page, Seen& seen) {
  if (rank == 0) {
    page.x.store(1, relaxed);
    std::atomic_thread_fence(release);
    page.y.store(1, relaxed);
  } else {
    seen[0] = page.y.load(relaxed);
    std::atomic_thread_fence(acquire);
    seen[1] = page.x.load(relaxed);
  }
}

/// A change by a third rank keeps what a release has told; a store does not.
template <bool changes>
void pass_message_on(int rank, Page& page, Seen& seen) {
  if (rank == 0) {
    page.x.store(1, relaxed);
    page.y.store(1, release);
  } else if (rank == 1) {
    if (page.y.load(relaxed) != 1) return;
    if (changes)
      page.y.fetch_add(1, relaxed);
    else
      page.y.store(2, relaxed);
  } else {
    seen[0] = page.y.load(acquire) == 2 ? 1 : 0;
    seen[1] = page.x.load(relaxed);
  }
}
bool is_message_lost(const Seen& seen) { return seen[0] == 1 && seen[1] == 0; }

template <std::memory_order store>
void pass_data(int rank, Page& page, Seen& seen) {
  if (rank == 0) {
    page.data = 1;
    page.y.store(1, store);
  } else if (page.y.load(acquire) == 1) {
    seen[0] = 1;
    seen[1] = page.data;
  }
}

/// Past the caches. Rank 1 may find the flag before the streams have ended.
template <bool ends>
void pass_stream(int rank, Page& page, Seen& seen) {
  std::array<std::byte, 128> own{std::byte{1}};
  if (rank == 0) {
    if (!ends) page.y.store(1, release);
    kernels::stream_copy(page.block.data(), own.data(), own.size());
    if (ends) page.y.store(1, release);
  } else if (page.y.load(acquire) == 1) {
    seen[0] = 1;
    seen[1] = std::to_integer<std::uint64_t>(page.block[0]);
  }
}

template <bool has_fences>
void store_then_look(int rank, Page& page, Seen& seen) {
  (rank == 0 ? page.x : page.y).store(1, release);
  if (has_fences) std::atomic_thread_fence(seq_cst);
  seen[static_cast<std::size_t>(rank)] = (rank == 0 ? page.y : page.x).load(acquire);
}
bool sees_neither(const Seen& seen) { return seen[0] == 0 && seen[1] == 0; }

void look_twice(int rank, Page& page, Seen& seen) {
  if (rank == 0) {
    page.x.store(1, relaxed);
    page.x.store(2, relaxed);
    seen[2] = 1;
  } else {
    seen[3] = seen[2];
    seen[0] = page.x.load(relaxed);
    seen[1] = page.x.load(relaxed);
  }
}
bool goes_back(const Seen& seen) { return seen[1] < seen[0]; }
bool is_late(const Seen& seen) { return seen[3] == 1 && seen[0] == 0; }

/// Independent reads of independent writes.
template <bool has_fences>
void look_at_two(int rank, Page& page, Seen& seen) {
  if (rank < 2) {
    (rank == 0 ? page.x : page.y).store(1, release);
    return;
  }
  const auto at = static_cast<std::size_t>(rank - 2) * 2;
  seen[at] = (rank == 2 ? page.x : page.y).load(acquire);
  if (has_fences) std::atomic_thread_fence(seq_cst);
  seen[at + 1] = (rank == 2 ? page.y : page.x).load(acquire);
}
bool disagree(const Seen& seen) { return seen[0] == 1 && seen[1] == 0 && seen[2] == 1 && seen[3] == 0; }

void add(int rank, Page& page, Seen& seen) {
  (void)page.x.fetch_add(1, relaxed);
  if (rank == 0) seen[4] = page.y.fetch_add(1, relaxed) + page.x.load(relaxed);
  seen[static_cast<std::size_t>(rank)] = page.x.fetch_add(1, relaxed);
}
bool is_lost(const Seen& seen) { return seen[0] == seen[1]; }

/// What the memory holds in the end is in seen[6] and seen[7].
template <bool has_fences>
void store_twice(int rank, Page& page, Seen& /*seen*/) {
  (rank == 0 ? page.x : page.y).store(1, release);
  if (has_fences) std::atomic_thread_fence(seq_cst);
  (rank == 0 ? page.y : page.x).store(2, release);
}
bool are_first_last(const Seen& seen) { return seen[6] == 1 && seen[7] == 1; }

bool never(const Seen& /*seen*/) { return false; }

constexpr std::array litmus_tests{
    Litmus{"a message by relaxed accesses", 2, pass_message<relaxed, relaxed>, is_message_lost, true},
    Litmus{"a message by a release alone", 2, pass_message<release, relaxed>, is_message_lost, true},
    Litmus{"a message by an acquire alone", 2, pass_message<relaxed, acquire>, is_message_lost, true},
    Litmus{"a message by release and acquire", 2, pass_message<release, acquire>, is_message_lost, false},
    Litmus{"a message by fences", 2, pass_message_by_fences, is_message_lost, false},
    Litmus{"a message handed on by a change", 3, pass_message_on<true>, is_message_lost, false},
    Litmus{"a message cut by a store", 3, pass_message_on<false>, is_message_lost, true},
    Litmus{"data by a relaxed store", 2, pass_data<relaxed>, never, false, true},
    Litmus{"data by a release", 2, pass_data<release>, never, false},
    Litmus{"a stream that has not ended", 2, pass_stream<false>, never, false, true},
    Litmus{"a stream that has ended", 2, pass_stream<true>, never, false},
    Litmus{"stores before looks", 2, store_then_look<false>, sees_neither, true},
    Litmus{"stores before looks, with fences", 2, store_then_look<true>, sees_neither, false},
    Litmus{"a word goes back", 2, look_twice, goes_back, false},
    Litmus{"an old value", 2, look_twice, is_late, true},
    Litmus{"two orders of two stores", 4, look_at_two<false>, disagree, true},
    Litmus{"two orders of two stores, with fences", 4, look_at_two<true>, disagree, false},
    Litmus{"stores that become older", 2, store_twice<false>, are_first_last, true},
    Litmus{"stores that become older, with fences", 2, store_twice<true>, are_first_last, false},
    Litmus{"a lost change", 2, add, is_lost, false},
};

class Nothing final : public Environment {
 public:
  bool deliver(Random& /*random*/) override { return false; }
  void disturb(Random& /*random*/) override {}
  bool loses_wake() override { return false; }
};

struct Outcome {
  bool shown = false;
  bool raced = false;
};

Outcome play(const Litmus& litmus, std::uint64_t seed) {
  constexpr Manner manner{.policy = Policy::uniform, .copy_stops = 1};
  Scheduler scheduler(seed, litmus.ranks, manner);
  Nothing nothing;
  scheduler.set_environment(nothing);
  SharedMemory shared(litmus.ranks, false);
  const WeakMemory memory(scheduler, litmus.ranks);
  Page page;
  Seen seen{};
  for (int rank = 0; rank < litmus.ranks; ++rank) {
    shared.map(rank, &page, sizeof page, 1);
    scheduler.start(rank, [&, rank] { litmus.play(rank, page, seen); });
  }
  const bool raced = !scheduler.run().empty();
  seen[6] = page.x.load();
  seen[7] = page.y.load();
  return {!raced && litmus.shows(seen), raced};
}

bool play_all(const Litmus& litmus) {
  constexpr std::uint64_t seeds = 2000;
  Outcome all;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Outcome one = play(litmus, seed);
    all = {all.shown || one.shown, all.raced || one.raced};
  }
  if (all.shown == litmus.may && all.raced == litmus.races) return true;
  fmt::print(stderr, "FAILED: {}: {}, {}\n", litmus.name, all.shown ? "was shown" : "was not shown",
             all.raced ? "a race" : "no race");
  return false;
}

}  // namespace

bool play_litmus() {
  bool is_right = true;
  for (const Litmus& litmus : litmus_tests) is_right = play_all(litmus) && is_right;
  return is_right;
}

}  // namespace tutti::simulation
