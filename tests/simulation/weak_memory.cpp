// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/weak_memory.hpp"

#include <fmt/format.h>

namespace tutti::simulation {
namespace {

/// Stores to a word that can still be read; older ones are gone everywhere.
constexpr std::size_t kept_stores = 8;

std::uint64_t key_of(int segment, std::size_t offset) { return static_cast<std::uint64_t>(segment) << 48U ^ offset; }

bool acquires(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

}  // namespace

WeakMemory::WeakMemory(Scheduler& scheduler, int ranks)
    : scheduler_(scheduler), ranks_(static_cast<std::size_t>(ranks)), races_(ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    Knowledge& now = ranks_[static_cast<std::size_t>(rank)].now;
    now.past[rank] = now.view[rank] = 1;
  }
  active = this;
  // A rank that failed has not gone on.
  paused = 0;
  is_busy = false;
}

/// What the rank does from now on is no part of what it has told.
void WeakMemory::step() {
  const int rank = scheduler_.rank();
  me().now.view[rank] = ++me().now.past[rank];
}

void WeakMemory::require(const std::string& problem) {
  if (!problem.empty()) scheduler_.fail(fmt::format("rank {}: {}", scheduler_.rank(), problem));
}

void WeakMemory::touch(const Touch& touch, bool makes) {
  const Work work;
  require(races_.note(scheduler_.rank(), me().now.past, touch, makes));
  if (touch.access == Access::write) forget_stores(touch.begin, touch.bytes);
}

void WeakMemory::begin_stream(const Touch& touch) {
  const Work work;
  require(races_.begin_stream(scheduler_.rank(), me().now.past, touch));
}

void WeakMemory::end_streams() {
  const Work work;
  require(races_.end_streams(scheduler_.rank(), me().now.past));
}

/// Plain stores replace what atomic operations have left.
void WeakMemory::forget_stores(const Word& begin, std::size_t bytes) {
  for (const std::size_t at : races_.atomics_in(begin, bytes))
    for (std::size_t byte = 0; byte < sizeof(std::uint64_t); ++byte) stores_.erase(key_of(begin.segment, at + byte));
}

WeakMemory::Stores& WeakMemory::stores_of(const Word& word, std::uint64_t newest) {
  Stores& stores = stores_.at(key_of(word.segment, word.offset));
  // What a planted fault has written, nobody has told.
  if (stores.empty() || stores.back().value != newest) stores.assign(1, Store{newest});
  return stores;
}

std::size_t WeakMemory::oldest_visible(const Stores& stores) {
  const Clock& view = me().now.view;
  for (std::size_t i = stores.size(); i-- > 1;)
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
      const std::uint32_t seen = stores[i].seen[static_cast<std::size_t>(rank)];
      if (seen != 0 && seen <= view[rank]) return i;
    }
  return 0;
}

void WeakMemory::take_in(const Store& store, std::memory_order order) {
  me().loaded.join(store.told);
  if (acquires(order)) me().now.join(store.told);
}

std::uint64_t WeakMemory::load(const Touch& touch, std::uint64_t newest, std::memory_order order, bool changes) {
  const Work work;
  require(races_.note(scheduler_.rank(), me().now.past, touch, true));
  Stores& stores = stores_of(touch.begin, newest);
  std::size_t chosen = stores.size() - 1;
  const std::size_t oldest = changes ? chosen : oldest_visible(stores);
  Random& random = scheduler_.random();
  if (oldest < chosen && random.once_in(2)) chosen = oldest + random.below(chosen - oldest);
  std::uint32_t& seen = stores[chosen].seen[static_cast<std::size_t>(scheduler_.rank())];
  if (seen == 0) seen = me().now.past[scheduler_.rank()];
  take_in(stores[chosen], order);
  return stores[chosen].value;
}

/// It may come before stores of which the rank has not heard, but not between a change and what that has read.
std::size_t WeakMemory::place_of_store(const Stores& stores) {
  Random& random = scheduler_.random();
  if (!random.once_in(4)) return stores.size();
  const std::size_t first = oldest_visible(stores) + 1;
  std::size_t place = first + random.below(stores.size() + 1 - first);
  while (place < stores.size() && stores[place].changes) ++place;
  return place;
}

std::uint64_t WeakMemory::store(const Touch& touch, std::uint64_t newest, std::uint64_t value, std::memory_order order,
                                bool changes) {
  const Work work;
  require(races_.note(scheduler_.rank(), me().now.past, touch, true));
  Stores& stores = stores_of(touch.begin, newest);
  Store made{value, changes};
  if (changes) {
    take_in(stores.back(), order);
    made.told = stores.back().told;
  }
  made.told.join(releases(order) ? me().now : me().fenced);
  made.seen[static_cast<std::size_t>(scheduler_.rank())] = me().now.past[scheduler_.rank()];
  const std::size_t place = changes ? stores.size() : place_of_store(stores);
  stores.insert(stores.begin() + static_cast<std::ptrdiff_t>(place), made);
  if (stores.size() > kept_stores) stores.pop_front();
  step();
  return stores.back().value;
}

void WeakMemory::fence(std::memory_order order) {
  Rank& rank = me();
  if (acquires(order)) rank.now.join(rank.loaded);
  if (order == std::memory_order_seq_cst) {
    rank.now.view.join(fences_.view);
    fences_.view.join(rank.now.view);
  }
  if (releases(order)) rank.fenced = rank.now;
  step();
}

Knowledge WeakMemory::tell() {
  const Knowledge known = me().now;
  step();
  return known;
}

void WeakMemory::learn(const Knowledge& told) { me().now.join(told); }

void WeakMemory::forget(const Word& begin, std::size_t bytes) {
  const Work work;
  races_.forget(begin, bytes);
}

void WeakMemory::meet() {
  Knowledge all;
  for (const Rank& rank : ranks_) all.join(rank.now);
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    Knowledge& now = ranks_[static_cast<std::size_t>(rank)].now;
    now = all;
    now.view[rank] = ++now.past[rank];
  }
}

}  // namespace tutti::simulation
