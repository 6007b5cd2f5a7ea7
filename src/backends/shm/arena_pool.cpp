// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/arena_pool.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

namespace tutti::detail::shm {
namespace {

/// One bit each in the words of a Head.
constexpr std::size_t most_arenas = 64;
constexpr std::size_t most_segment_bytes = std::size_t{1} << 30U;
/// Free arenas that keep their early pages; the others give all memory back.
constexpr int most_warm = 16;

/// What arenas that this process made may still take of /dev/shm, in bytes. A new one needs room besides, or a call of
/// an older one would find none.
std::atomic<std::size_t> all_promised{0};

constexpr std::uint64_t bit(int index) { return std::uint64_t{1} << static_cast<unsigned>(index); }

/// A lot is the number of a segment, from 1 on, of an arena in it, and whether that is warm.
constexpr std::uint64_t lot_of(std::uint32_t id, int index, bool warm) {
  return std::uint64_t{id} << 7U | static_cast<std::uint64_t>(index) << 1U | (warm ? 1U : 0U);
}

}  // namespace

Plot ArenaPool::plot_at(std::uint32_t id, const std::shared_ptr<Segment>& segment, int index) const noexcept {
  return {segment, static_cast<std::size_t>(index) * bytes(), id, index, false};
}

Plot ArenaPool::plot_of(std::uint64_t lot) const noexcept {
  const auto id = static_cast<std::uint32_t>(lot >> 7U);
  const std::lock_guard lock(mutex_);
  const auto found = segments_.find(id);
  if (found == segments_.end()) return {};
  Plot plot = plot_at(id, found->second, static_cast<int>(lot >> 1U & 63U));
  plot.is_warm = (lot & 1U) != 0;
  return plot;
}

std::uint64_t ArenaPool::set_aside() noexcept {
  if (!Segment::has_room(bytes() + all_promised.load())) return 0;
  const std::lock_guard lock(mutex_);
  for (const bool warm : {true, false})
    for (const auto& [id, segment] : segments_)
      if (const std::uint64_t lot = take_free(id, segment, warm); lot != 0) {
        all_promised.fetch_add(later_bytes());
        return lot;
      }
  return 0;
}

std::uint64_t ArenaPool::take_free(std::uint32_t id, const std::shared_ptr<Segment>& segment, bool warm) noexcept {
  Head& shared = plot_at(id, segment, 0).segment_head();
  std::uint64_t free = shared.free.load(std::memory_order_acquire);
  if (warm) free &= shared.warm.load(std::memory_order_relaxed);
  if (free == 0) return 0;
  Plot plot = plot_at(id, segment, std::countr_zero(free));
  plot.is_warm = (shared.warm.load(std::memory_order_relaxed) & bit(plot.index)) != 0;
  if (!prepare(plot)) return 0;
  shared.warm.fetch_and(~bit(plot.index), std::memory_order_relaxed);
  shared.free.fetch_and(~bit(plot.index), std::memory_order_relaxed);
  return lot_of(id, plot.index, plot.is_warm);
}

// No other rank looks at the head of an arena before it has heard of it.
bool ArenaPool::prepare(const Plot& plot) const noexcept {
  if (!plot.is_warm && !plot.segment->try_reserve(plot.begin, Layout::early_bytes())) return false;
  Head& head = plot.head();
  for (auto* word : {&head.joined, &head.left, &head.no_room, &head.given_up_by, &head.grown})
    word->store(0, std::memory_order_relaxed);
  head.failure.store(FailureState::none, std::memory_order_relaxed);
  return true;
}

void ArenaPool::put_back(std::uint64_t lot) noexcept {
  const Plot plot = plot_of(lot);
  if (!plot.valid()) return;
  all_promised.fetch_sub(later_bytes());
  // Rank 0's early pages are reserved, but not those of the others.
  Head& shared = plot.segment_head();
  if (plot.is_warm) shared.warm.fetch_or(bit(plot.index), std::memory_order_relaxed);
  shared.free.fetch_or(bit(plot.index), std::memory_order_release);
}

void ArenaPool::give_up(std::uint64_t lot, int rank) noexcept {
  const Plot plot = plot_of(lot);
  if (!plot.valid()) return;
  plot.head().given_up_by.store(static_cast<std::uint32_t>(rank) + 1, std::memory_order_relaxed);
  plot.head().joined.fetch_add(1, std::memory_order_release);
  leave(plot, rank);
}

std::size_t ArenaPool::next_arenas() const noexcept {
  if (!reuses_) return 1;
  return std::clamp(std::min(arenas_, most_segment_bytes / bytes()), std::size_t{1}, most_arenas);
}

Plot ArenaPool::add(std::uint32_t id, Segment segment) {
  auto shared = std::make_shared<Segment>(std::move(segment));
  const std::lock_guard lock(mutex_);
  reuses_ = shared->can_reserve_later();
  segments_[id] = shared;
  return plot_at(id, shared, 0);
}

Plot ArenaPool::make_segment(SegmentName& name, std::string& problem) {
  std::size_t arenas = 1;
  std::uint32_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    arenas = next_arenas();
    id = ++last_id_;
  }
  const std::size_t needed = bytes() + all_promised.load();
  Segment made = Segment::create(arenas * bytes(), name, problem, needed);
  if (!made.valid() && arenas > 1) made = Segment::create(bytes(), name, problem, needed);
  // The head is written before the parts are reserved.
  if (!made.valid() || !made.reserve(name.text, 0, Layout::page, problem)) return {};
  Plot plot = add(id, std::move(made));
  all_promised.fetch_add(later_bytes());
  return plot;
}

void ArenaPool::open(const Plot& plot) noexcept {
  const std::size_t arenas = plot.segment->bytes() / bytes();
  const std::uint64_t all = arenas == most_arenas ? ~std::uint64_t{0} : bit(static_cast<int>(arenas)) - 1;
  plot.head().free.fetch_or(all & ~bit(0), std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  arenas_ += arenas;
}

Plot ArenaPool::map_segment(const std::string& name, std::uint32_t id, std::size_t bytes, std::string& problem) {
  Segment segment = Segment::open(name, bytes, problem);
  if (!segment.valid()) return {};
  return add(id, std::move(segment));
}

void ArenaPool::forget(std::uint32_t id) noexcept {
  const std::lock_guard lock(mutex_);
  segments_.erase(id);
}

bool ArenaPool::reserve(const Plot& plot, Layout::Pages pages, std::string& problem) {
  plot.head().grown.store(1, std::memory_order_relaxed);
  return plot.segment->reserve_later(plot.begin + pages.begin, pages.bytes, problem);
}

// All ranks may ask at the same time.
bool ArenaPool::try_reserve_spare(const Plot& plot, Layout::Pages pages) const noexcept {
  constexpr std::size_t left_to_others = 16;
  const std::size_t all = pages.bytes * static_cast<std::size_t>(size_);
  if (!Segment::has_room(all_promised.load() + left_to_others * all)) return false;
  plot.head().grown.store(1, std::memory_order_relaxed);
  return plot.segment->try_reserve(plot.begin + pages.begin, pages.bytes);
}

void ArenaPool::leave(const Plot& plot, int rank) noexcept {
  if (rank == 0) all_promised.fetch_sub(later_bytes());
  if (!reuses_) forget(plot.id);
  const std::uint32_t left = plot.head().left.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (left < static_cast<std::uint32_t>(size_) || !reuses_) return;
  const bool is_whole = plot.head().no_room.load(std::memory_order_relaxed) == 0 &&
                        plot.head().given_up_by.load(std::memory_order_relaxed) == 0;
  const bool keeps_early = is_whole && !is_warm_enough();
  if (!clear(plot, keeps_early)) return;
  Head& shared = plot.segment_head();
  if (keeps_early) shared.warm.fetch_or(bit(plot.index), std::memory_order_relaxed);
  shared.free.fetch_or(bit(plot.index), std::memory_order_release);
}

// The first page of the arena stays, because its head is read by ranks that look for a free one.
bool ArenaPool::clear(const Plot& plot, bool keeps_early) const noexcept {
  const bool has_grown = plot.head().grown.load(std::memory_order_relaxed) != 0;
  if (keeps_early && !has_grown) return true;
  bool ok = true;
  for (int rank = 0; rank < size_; ++rank) {
    const std::size_t kept = keeps_early ? Layout::early_bytes() : rank == 0 ? Layout::page : 0;
    ok = ok && plot.segment->give_back(plot.begin + layout_.part(rank) + kept, layout_.rank_bytes() - kept);
  }
  return ok;
}

bool ArenaPool::is_warm_enough() const noexcept {
  int warm = 0;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, segment] : segments_)
    warm += std::popcount(plot_at(id, segment, 0).segment_head().warm.load(std::memory_order_relaxed));
  return warm >= most_warm;
}

}  // namespace tutti::detail::shm
