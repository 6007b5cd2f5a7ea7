// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/arena.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <tutti/environment.hpp>
#include <tutti/error.hpp>

#include "backends/shm/calibrate.hpp"
#include "backends/shm/peer_memory.hpp"
#include "call/agreement.hpp"
#include "call/backoff.hpp"
#include "core/config.hpp"
#include "core/mpi_call.hpp"
#include "core/progress_hook.hpp"
#include "core/random_word.hpp"

namespace tutti::detail::shm {
namespace {

/// Rank 0's description of the segment that it made.
struct Invitation {
  std::array<char, 64> name{};
  std::array<char, 160> problem{};
  std::uint64_t mark = 0;   ///< first word of the segment; in another container the same name may be another file
  std::uint64_t bytes = 0;  ///< size of the segment
  std::uint32_t id = 0;     ///< of the segment in the pool
  bool made = false;
};

template <std::size_t N>
void put(std::array<char, N>& to, const std::string& text) {
  const std::size_t length = std::min(N - 1, text.size());
  std::copy_n(text.data(), length, to.data());
}

/// A rank's success with the common segment, worst first.
enum class Mapping : int { no_room, not_mapped, mapped };

std::string no_room() { return fmt::format("no room in /dev/shm for {} KiB per rank", Layout::early_bytes() / 1024); }

/// The plot of a new communicator in a new segment; invalid if this rank could not map it.
Plot invite(const Context& context, ArenaPool& pool, SegmentName& name, Invitation& invitation) {
  Plot plot;
  std::string problem;
  if (context.rank == 0) {
    plot = pool.make_segment(name, problem);
    invitation.made = plot.valid();
    invitation.id = plot.id;
    invitation.mark = random_word() | 1U;
    put(invitation.name, name.text);
    put(invitation.problem, problem);
    if (plot.valid()) {
      invitation.bytes = plot.segment->bytes();
      plot.segment_head().mark.store(invitation.mark, std::memory_order_relaxed);
    }
  }
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(&invitation, sizeof invitation, MPI_BYTE, 0, context.point_to_point, &request), "MPI_Ibcast");
  wait_yielding(request, "MPI_Ibcast");
  if (context.rank != 0 && invitation.made) {
    plot = pool.map_segment(invitation.name.data(), invitation.id, invitation.bytes, problem);
    if (plot.valid() && plot.segment_head().mark.load(std::memory_order_relaxed) != invitation.mark) plot = {};
  }
  return plot;
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) noexcept {
  return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

Arena::Arena(std::shared_ptr<ArenaPool> pool, Plot plot, const Context& context)
    : pool_(std::move(pool)),
      plot_(std::move(plot)),
      base_(plot_.valid() ? plot_.data() : nullptr),
      layout_(pool_->layout()),
      rank_(context.rank),
      size_(context.size),
      oversubscribed_(context.topology.oversubscribed) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  threaded_ = level == MPI_THREAD_MULTIPLE;
}

Arena::~Arena() {
  if (base_ == nullptr) return;
  // The pages of cells for persistent calls begin in the last early page.
  const bool has_persistent = std::find(has_cells_.begin(), has_cells_.end(), true) != has_cells_.end();
  const std::uint64_t used = has_persistent ? ordered_cells + 1 : std::min<std::uint64_t>(next_ordered_, ordered_cells);
  if (is_settled_) control(rank_).used = static_cast<std::uint32_t>(used);
  pool_->leave(plot_, rank_);
}

std::unique_ptr<Arena> Arena::create(Context& context, std::string& reason) {
  if (context.size > most_ranks) {
    reason = fmt::format("more than {} ranks on one node", most_ranks);
    return nullptr;
  }
  return context.lot ? join(context, reason) : found(context, reason);
}

std::unique_ptr<Arena> Arena::join(Context& context, std::string& reason) {
  Lot lot = std::move(context.lot);
  auto pool = std::static_pointer_cast<ArenaPool>(context.commons);
  std::unique_ptr<Arena> arena(new Arena(pool, pool->plot_of(lot.number()), context));
  lot.take();
  if (!arena->settle() || !arena->attach_peers()) arena->head().no_room.store(1, std::memory_order_relaxed);
  arena->head().joined.fetch_add(1, std::memory_order_release);
  arena->wait_for_all(context);
  if (arena->head().no_room.load(std::memory_order_relaxed) != 0) {
    reason = no_room();
    return nullptr;
  }
  arena->use(*pool->findings());
  reason = pool->findings()->report;
  return arena;
}

bool Arena::settle() noexcept {
  if (rank_ != 0 && !plot_.is_warm &&
      !plot_.segment->try_reserve(plot_.begin + layout_.part(rank_), Layout::early_bytes()))
    return false;
  auto* begin = reinterpret_cast<std::byte*>(&cell(rank_, 0));
  const auto used = static_cast<int>(control(rank_).used);
  std::byte* end = used > ordered_cells ? base_ + layout_.part(rank_) + Layout::early_bytes()
                                        : reinterpret_cast<std::byte*>(&cell(rank_, used));
  std::memset(begin, 0, static_cast<std::size_t>(end - begin));
  control(rank_).completed.store(0, std::memory_order_relaxed);
  control(rank_).streamed.store(0, std::memory_order_relaxed);
  introduce();
  is_settled_ = true;
  return true;
}

void Arena::throw_failure(Context& context, const std::string& who) const {
  context.check_peers(who);
  const auto code = static_cast<ErrorCode>(head().code);
  if (code == ErrorCode::aborted)
    throw Error(code,
                fmt::format("{}, {}: aborted by rank {}: {}", who, context.describe(), head().rank, head().reason));
  throw Error(code, fmt::format("{}, {}: rank {} has failed and takes part no more: {}", who, context.describe(),
                                head().rank, head().reason));
}

void Arena::wait_for_all(const Context& context) const {
  const auto all = static_cast<std::uint32_t>(size_);
  for (Backoff backoff(oversubscribed_); head().joined.load(std::memory_order_acquire) < all;) {
    if (!backoff.pause()) Backoff::sleep();
    constexpr std::uint64_t polls_per_look = 64;
    if (backoff.polls() % polls_per_look != 0) continue;
    progress_hook::look_into_mpi(context.point_to_point);
    progress();
  }
  if (const std::uint32_t rank = head().given_up_by.load(std::memory_order_relaxed); rank != 0)
    throw Error(ErrorCode::internal,
                fmt::format("rank {} could not make its part of the new communicator; its own error says why, and "
                            "another one can be made",
                            rank - 1));
}

std::unique_ptr<Arena> Arena::found(Context& context, std::string& reason) {
  auto pool = std::static_pointer_cast<ArenaPool>(context.commons);
  if (!pool) pool = std::make_shared<ArenaPool>(context.size);
  Invitation invitation;
  SegmentName name;
  Plot plot = invite(context, *pool, name, invitation);
  if (!invitation.made) {
    reason = invitation.problem.data();
    return nullptr;
  }
  Mapping mapping = plot.valid() ? Mapping::mapped : Mapping::not_mapped;
  std::unique_ptr<Arena> arena(new Arena(pool, plot, context));
  if (mapping == Mapping::mapped && !arena->reserve_part(invitation.name.data())) mapping = Mapping::no_room;
  if (mapping == Mapping::mapped) {
    arena->is_settled_ = true;
    arena->offer_memory();
    arena->introduce();
    if (pool->findings() != nullptr && !arena->attach_peers()) mapping = Mapping::no_room;
  }
  mapping = static_cast<Mapping>(all_agree_on<1>(context.point_to_point, {static_cast<int>(mapping)})[0]);
  name.remove();
  if (mapping != Mapping::mapped) {
    pool->forget(invitation.id);
    reason = mapping == Mapping::no_room ? no_room()
                                         : "a rank could not map the common segment; is /dev/shm the same file system "
                                           "for all ranks of the node?";
    return nullptr;
  }
  if (context.rank == 0) pool->open(plot);
  if (pool->findings() == nullptr) pool->keep_findings(arena->explore(context));
  arena->use(*pool->findings());
  reason = pool->findings()->report;
  context.commons = std::move(pool);
  return arena;
}

ArenaPool::Findings Arena::explore(const Context& context) {
  ArenaPool::Findings findings;
  const std::span<const Place> places(context.topology.places);
  findings.tree = std::make_shared<const TreePlaces>(places_of(rank_, Groups(places), exchange_groups(places)));
  findings.report = config().single_copy
                        ? try_copies(context.point_to_point)
                        : "single copies are switched off by TUTTI_SINGLE_COPY=0: large messages go through slots";
  findings.single_copy = single_copy_;
  findings.mapped_copy = mapped_copy_;
  for (int r = 0; r < size_ && mapped_copy_; ++r) findings.memories.emplace_back(process(r), control(r).segment);
  return findings;
}

void Arena::use(const ArenaPool::Findings& findings) {
  tree_ = findings.tree;
  single_copy_ = findings.single_copy;
  mapped_copy_ = findings.mapped_copy;
}

bool Arena::attach_peers() noexcept {
  const auto& memories = pool_->findings()->memories;
  try {
    peers_.resize(memories.size());
    for (std::size_t r = 0; r < memories.size(); ++r) {
      if (static_cast<int>(r) == rank_) continue;
      peers_[r] = PeerMemory::of(memories[r].first, memories[r].second);
      if (peers_[r] == nullptr) return false;
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Arena::fail(ErrorCode code, const std::string& reason) noexcept {
  Head& shared = head();
  FailureState expected = FailureState::none;
  if (!shared.failure.compare_exchange_strong(expected, FailureState::being_written, std::memory_order_relaxed)) return;
  shared.rank = rank_;
  shared.code = static_cast<std::int32_t>(code);
  shared.reason[reason.copy(shared.reason, sizeof shared.reason - 1)] = '\0';
  shared.failure.store(FailureState::written, std::memory_order_release);
  wake();
}

// A refused call counts as one, so that this rank's next call does not meet the one that the others are making.
void Arena::refuse(flight::Call call) noexcept {
  constexpr std::uint64_t digest = 0x72656675736564ULL;
  const Turn turn = next_ordered(digest);
  const auto number = static_cast<std::uint64_t>(turn.number);
  if (is_free(number)) {
    Record& record = cell(rank_, static_cast<int>(number % ordered_cells)).record;
    record.history = turn.history;
    record.digest = digest;
    record.call = call;
    record.refused = true;
    record.generation.store(number + 1, std::memory_order_release);
  }
  complete(number);
  wake();
}

std::string Arena::try_copies(MPI_Comm comm) {
  const bool offered = all_have_segments();
  const auto works = all_agree_on<2>(comm, {probe_peers() ? 1 : 0, offered && answer_peers() ? 1 : 0});
  single_copy_ = works[0] != 0;
  mapped_copy_ = works[1] != 0 && all_agree(comm, is_answered());
  if (!mapped_copy_) peers_.clear();
  std::string xpmem = segment_report_;
  if (!mapped_copy_ && xpmem.empty() && any_has_segment())
    xpmem = offered ? "a rank could not attach another's memory" : "a rank has no XPMEM";
  std::string missing;
  if (!single_copy_)
    missing = fmt::format("the kernel refuses process_vm_readv between the ranks: large messages go {}",
                          mapped_copy_ ? "by XPMEM" : "through slots");
  if (!mapped_copy_ && !xpmem.empty())
    missing += fmt::format("{}XPMEM is not used: {}", missing.empty() ? "" : "; ", xpmem);
  return missing;
}

// Each rank takes the pages of its own part, so that they lie on its NUMA domain. A store to a page without room in
// /dev/shm would end the process, so no page is left to the first store.
bool Arena::reserve_part(const std::string& name) {
  std::string problem;
  const bool at_once = !plot_.segment->can_reserve_later();
  for (auto* has : {&has_slot_, &has_pairs_, &has_cells_}) has->fill(at_once);
  if (at_once) has_ring_ = {Having::yes, Having::never};
  return plot_.segment->reserve(name, layout_.part(rank_), at_once ? layout_.promised_bytes() : Layout::early_bytes(),
                                problem);
}

void Arena::reserve(Layout::Pages pages) {
  std::string problem;
  if (!ArenaPool::reserve(plot_, pages, problem))
    throw Error(ErrorCode::out_of_memory, problem + "; give the node a larger /dev/shm, or free communicators");
}

void Arena::reserve_once(std::array<bool, all_cells>& has, int number, Layout::Pages pages) {
  reserve(pages);
  has[static_cast<std::size_t>(number)] = true;
}

bool Arena::try_prepare_slot(int number) {
  bool& has = has_slot_[static_cast<std::size_t>(number)];
  std::string problem;
  has = has || ArenaPool::reserve(plot_, layout_.slot_pages(rank_, number), problem);
  return has;
}

bool Arena::reserve_ring(RingKind kind) {
  Having& has = has_ring_[static_cast<std::size_t>(kind)];
  if (has == Having::never) return false;
  const Layout::Pages pages = layout_.ring_pages(rank_, kind);
  if (kind != RingKind::wide) reserve(pages);
  has = kind != RingKind::wide || pool_->try_reserve_spare(plot_, pages) ? Having::yes : Having::never;
  return has == Having::yes;
}

void Arena::prepare_cells(int first) {
  if (has_cells_[static_cast<std::size_t>(first)]) return;
  for (int r = 0; r < size_; ++r) reserve_once(has_cells_, first, layout_.cells_pages(r, first));
}

void Arena::use_groups(const Groups& groups) {
  tree_ = std::make_shared<const TreePlaces>(places_of(rank_, groups, groups));
  for (auto& use : near_uses_) use.store(0, std::memory_order_relaxed);
  near_done_.store(0, std::memory_order_relaxed);
}

void Arena::introduce() noexcept {
  Control& mine = control(rank_);
  mine.process = getpid();
  mine.asleep.store(0, std::memory_order_relaxed);
}

/// For the trial of copies.
void Arena::offer_memory() {
  Control& mine = control(rank_);
  probe_word_ = static_cast<std::uint64_t>(getpid()) << 32U | static_cast<std::uint64_t>(rank_) | 0x5A000000U;
  mine.probe_address = reinterpret_cast<std::uint64_t>(&probe_word_);
  mine.probe_value = probe_word_;
  if (config().single_copy) mine.segment = own_segment(segment_report_);
  if (mine.segment != 0) answers_.assign(static_cast<std::size_t>(size_), 0);
  mine.answer_address = reinterpret_cast<std::uint64_t>(answers_.data());
}

bool Arena::all_have_segments() const noexcept {
  for (int r = 0; r < size_; ++r)
    if (control(r).segment == 0) return false;
  return true;
}

bool Arena::any_has_segment() const noexcept {
  for (int r = 0; r < size_; ++r)
    if (control(r).segment != 0) return true;
  return false;
}

bool Arena::answer_peers() {
  peers_.resize(static_cast<std::size_t>(size_));
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    const Control& peer = control(r);
    auto& memory = peers_[static_cast<std::size_t>(r)] = PeerMemory::of(peer.process, peer.segment);
    if (memory == nullptr) return false;
    const std::uint64_t answer = peer.answer_address + static_cast<std::uint64_t>(rank_) * sizeof(std::uint64_t);
    const AttachmentPtr probe = memory->attach(peer.probe_address, sizeof(std::uint64_t));
    const AttachmentPtr answers = memory->attach(answer, sizeof(std::uint64_t));
    if (probe == nullptr || answers == nullptr) return false;
    std::uint64_t found = 0;
    std::memcpy(&found, probe->at(peer.probe_address), sizeof found);
    if (found != peer.probe_value) return false;
    std::memcpy(answers->at(answer), &probe_word_, sizeof probe_word_);
  }
  return true;
}

bool Arena::is_answered() const noexcept {
  for (int r = 0; r < size_; ++r)
    if (r != rank_ && answers_[static_cast<std::size_t>(r)] != control(r).probe_value) return false;
  return true;
}

bool Arena::probe_peers() noexcept {
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    const Control& peer = control(r);
    std::uint64_t found = 0;
    if (!try_read_memory(peer.process, peer.probe_address, &found, sizeof found) || found != peer.probe_value)
      return false;
    if (!try_write_memory(peer.process, peer.probe_address, &found, sizeof found)) return false;
  }
  return true;
}

std::uint64_t Arena::completed_by_met() const noexcept {
  std::uint64_t done = known_completed_.load(std::memory_order_relaxed);
  const auto is_blocking = [this](std::uint64_t ordered) {
    const Record& record = cell(rank_, static_cast<int>(ordered % ordered_cells)).record;
    return record.generation.load(std::memory_order_acquire) == ordered + 1 && !record.refused &&
           record.kind == static_cast<std::uint8_t>(CallKind::blocking);
  };
  while (done < met_.load(std::memory_order_relaxed) && is_blocking(done)) ++done;
  return done;
}

bool Arena::are_near_done(std::uint64_t ordered, int root) noexcept {
  const std::uint64_t known = near_done_.load(std::memory_order_acquire);
  if (known % most_ranks == static_cast<std::uint64_t>(root) && known >= near_use(ordered, root)) return true;
  const TreePlace& place = tree_place(root);
  std::uint64_t least = ~std::uint64_t{0};
  const auto look_at = [&](int rank) {
    least = std::min(least, control(rank).completed.load(std::memory_order_acquire));
  };
  if (place.parent >= 0) look_at(place.parent);
  for (const TreePlace::Child& child : place.children) look_at(child.rank);
  if (least <= ordered) return false;
  near_done_.store(near_use(least - 1, root), std::memory_order_release);
  return true;
}

// The lines of all ranks take longer than a short call, where there are many.
bool Arena::poll_completed(std::uint64_t ordered) noexcept {
  const std::uint64_t before = ordered - ordered_cells;
  const std::uint64_t near = near_uses_[before % ordered_cells].load(std::memory_order_relaxed);
  const auto root = static_cast<int>(near % most_ranks);
  if (near != 0 && near == near_use(before, root)) return are_near_done(before, root);
  std::uint64_t least = completed_by_met();
  if (ordered >= least + ordered_cells) {
    least = ~std::uint64_t{0};
    for (int r = 0; r < size_; ++r) least = std::min(least, control(r).completed.load(std::memory_order_acquire));
  }
  known_completed_.store(least, std::memory_order_release);
  return ordered < least + ordered_cells;
}

bool Arena::poll_streamed(std::uint64_t before) noexcept {
  std::uint64_t least = next_streamed_;
  for (int r = 0; r < size_; ++r)
    if (r != rank_) least = std::min(least, control(r).streamed.load(std::memory_order_acquire));
  known_streamed_ = std::max(known_streamed_, least);
  return before <= known_streamed_;
}

void Arena::complete(std::uint64_t ordered) noexcept {
  if (!threaded_) return complete_in_turn(ordered);
  while (completing_.test_and_set(std::memory_order_acquire)) {
  }
  complete_in_turn(ordered);
  completing_.clear(std::memory_order_release);
}

void Arena::complete_in_turn(std::uint64_t ordered) noexcept {
  if (ordered != completed_) return complete_early(ordered);
  ++completed_;
  take_refused();
  while (done_[completed_ % done_.size()]) {
    done_[completed_++ % done_.size()] = false;
    take_refused();
  }
  control(rank_).completed.store(completed_, std::memory_order_release);
}

// Only a refused call, which waits for no cell, can be so far ahead that its cell still has another call.
void Arena::complete_early(std::uint64_t ordered) noexcept {
  if (ordered < completed_ + ordered_cells) {
    done_[ordered % done_.size()] = true;
    return;
  }
  try {
    refused_.push_back(ordered);
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::out_of_memory, "memory ran out while refused calls were counted");
  }
}

void Arena::take_refused() noexcept {
  while (!refused_.empty() && refused_.front() < completed_ + ordered_cells) {
    done_[refused_.front() % done_.size()] = true;
    refused_.pop_front();
  }
}

bool Arena::has_cells_to_give() const noexcept {
  return std::find(given_.begin(), given_.end(), false) != given_.end();
}

Arena::Owners Arena::held() const noexcept {
  Owners held{};
  for (std::size_t i = 0; i < held.size(); ++i) held[i] = in_use_[i].load() ? 1 : 0;
  return held;
}

void Arena::note_held(const Owners& by_any) noexcept {
  for (std::size_t i = 0; i < by_any.size(); ++i) given_[i] = by_any[i] != 0;
}

int Arena::acquire_persistent() {
  const auto unused = std::find(given_.begin(), given_.end(), false);
  if (unused == given_.end()) return -1;
  const auto index = unused - given_.begin();
  prepare_cells(ordered_cells + starts_apart * static_cast<int>(index));
  *unused = true;
  in_use_[static_cast<std::size_t>(index)].store(true);
  return ordered_cells + starts_apart * static_cast<int>(index);
}

void Arena::give_back(Turn turn) noexcept { in_use_[owner_of(static_cast<int>(turn.number))].store(false); }

void Arena::calibrate(Context& /*context*/, Costs& costs, Calibration kind) { shm::calibrate(*this, costs, kind); }

bool Arena::are_finished(int number, Generation generation) const noexcept {
  for (int r = 0; r < size_; ++r)
    if (cell(r, number).progress.done.load(std::memory_order_acquire) + starts_apart < generation) return false;
  return true;
}

void Arena::wake_sleepers() noexcept {
  // Either a sleeper sees the published data in its last poll, or this rank sees the sleeper.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (int r = 0; r < size_; ++r) {
    std::atomic<std::uint32_t>& asleep = control(r).asleep;
    if (r == rank_ || asleep.load(std::memory_order_relaxed) == 0) continue;
    asleep.store(0, std::memory_order_relaxed);
    futex(asleep, FUTEX_WAKE, 1, nullptr);
  }
}

void Arena::describe(Machine& machine) const {
  machine.shared_memory = true;
  machine.single_copy = single_copy_;
  machine.mapped_copy = mapped_copy_;
}

void Arena::announce_backoff() noexcept {
  control(rank_).asleep.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

bool Arena::backoff() noexcept {
  // Sleeps only briefly, because messages of the host MPI wake no rank.
  const timespec longest{0, 500'000};
  futex(control(rank_).asleep, FUTEX_WAIT, 1, &longest);
  control(rank_).asleep.store(0, std::memory_order_relaxed);
  return true;
}

}  // namespace tutti::detail::shm
