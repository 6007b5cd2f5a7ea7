// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "backends/shm/arena_pool.hpp"
#include "backends/shm/groups.hpp"
#include "backends/shm/layout.hpp"
#include "backends/shm/peer_memory.hpp"
#include "backends/shm/ring.hpp"
#include "call/context.hpp"

namespace tutti::detail::shm {

/// The shared memory of one communicator whose ranks are all on one node, with this rank's local bookkeeping.
class Arena final : public BackendState {
 public:
  /// Takes the context's lot, or maps a common segment and, for the first communicator of its processes, tries single
  /// copies between all pairs. Leaves the pool of these processes in the context. Collective, blocking. Returns null on
  /// every rank, with the reason, if one of them cannot map it or finds no room.
  [[nodiscard]] static std::unique_ptr<Arena> create(Context& context, std::string& reason);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool oversubscribed() const { return oversubscribed_; }
  /// True if every rank can reach every other's buffers, by the kernel or by loads and stores.
  [[nodiscard]] bool direct_copy() const { return single_copy_ || mapped_copy_; }
  [[nodiscard]] bool mapped_copy() const { return mapped_copy_; }
  /// The memory of another rank. Only if mapped_copy().
  [[nodiscard]] PeerMemory& peer(int rank) const { return *peers_[static_cast<std::size_t>(rank)]; }

  [[nodiscard]] Head& head() const { return at<Head>(0); }
  /// Returns true once a rank has told that one of its calls has failed.
  [[nodiscard]] bool has_failed() const noexcept {
    return head().failure.load(std::memory_order_acquire) == FailureState::written;
  }
  /// Throws because of that, so that this rank does not wait for it. who: begins the text.
  [[noreturn]] void throw_failure(Context& context, const std::string& who) const;
  void fail(ErrorCode code, const std::string& reason) noexcept override;
  void refuse(flight::Call call) noexcept override;
  [[nodiscard]] Control& control(int rank) const { return at<Control>(layout_.control(rank)); }
  [[nodiscard]] Cell& cell(int rank, int number) const { return at<Cell>(layout_.cell(rank, number)); }
  [[nodiscard]] Pair& pair(int giver, int taker, int number) const {
    return at<Pair>(layout_.pairs(taker, number) + static_cast<std::size_t>(giver) * sizeof(Pair));
  }
  /// Returns true if the cells of that number have memory on all ranks, so that this rank may look at them.
  [[nodiscard]] bool has_cell(int number) const {
    const auto first = static_cast<std::size_t>(number - (number - ordered_cells) % starts_apart);
    return number < ordered_cells || has_cells_[first];
  }
  /// Make sure that this rank's slot and pairs of a cell have memory. Before the rank publishes anything in the cell,
  /// because afterwards its peers use them. Throw Error(out_of_memory).
  void prepare_slot(int number) {
    if (!has_slot_[static_cast<std::size_t>(number)])
      reserve_once(has_slot_, number, layout_.slot_pages(rank_, number));
  }
  void prepare_pairs(int number) {
    if (!has_pairs_[static_cast<std::size_t>(number)])
      reserve_once(has_pairs_, number, layout_.pairs_pages(rank_, number));
  }
  /// The same for a call that has another way: returns false if there is no room.
  [[nodiscard]] bool try_prepare_slot(int number);
  [[nodiscard]] std::byte* slot(int rank, int number) const { return base_ + layout_.slot(rank, number); }

  /// Reserves this rank's ring. Returns false if /dev/shm has no room for a wide one; throws as prepare_slot() if it
  /// has none for a near one.
  [[nodiscard]] bool prepare_ring(RingKind kind) {
    return has_ring_[static_cast<std::size_t>(kind)] == Having::yes || reserve_ring(kind);
  }
  /// The turn of a call by rings among all such calls, which are blocking, so that every rank finishes one before it
  /// takes the next turn.
  [[nodiscard]] std::uint64_t next_streamed() noexcept { return next_streamed_++; }
  /// A place in this rank's ring, which is prepared, for that many bytes, in whole lines: where it is in the rank's
  /// part, and which calls by rings all ranks must have finished before this one writes there.
  [[nodiscard]] Ring::Room take_ring(RingKind kind, std::uint64_t turn, std::size_t bytes) noexcept {
    Ring::Room room = rings_[static_cast<std::size_t>(kind)].take(turn, bytes);
    room.offset += layout_.ring(0, kind);
    return room;
  }
  /// A byte of a rank's part.
  [[nodiscard]] std::byte* in_part(int rank, std::size_t offset) const { return base_ + layout_.part(rank) + offset; }
  [[nodiscard]] std::byte* ring(int rank, RingKind kind) const { return base_ + layout_.ring(rank, kind); }
  /// Returns true once all ranks have finished all calls by rings before that turn.
  [[nodiscard]] bool are_streamed(std::uint64_t before) noexcept {
    return before <= known_streamed_ || poll_streamed(before);
  }
  /// All other ranks are known to have begun the call of that turn.
  void note_streamed(std::uint64_t turn) noexcept {
    if (turn > known_streamed_) known_streamed_ = turn;
  }
  /// Records that this rank has finished its latest call by rings. Whoever waits for that is woken when the call has
  /// ended as a whole.
  void complete_streamed() noexcept { control(rank_).streamed.store(next_streamed_, std::memory_order_release); }
  [[nodiscard]] pid_t process(int rank) const { return control(rank).process; }

  /// This rank's place in the tree of a call with that root.
  [[nodiscard]] const TreePlace& tree_place(int root) const { return tree_->of_root[static_cast<std::size_t>(root)]; }
  /// The ranks that it exchanges with, level by level.
  [[nodiscard]] const std::vector<Partners>& tree_partners() const { return tree_->partners; }
  [[nodiscard]] int tree_levels() const { return tree_->levels; }
  [[nodiscard]] int exchange_levels() const { return static_cast<int>(tree_->partners.size()); }
  /// Uses these groups from the next call on. All ranks must use the same.
  void use_groups(const Groups& groups);

  /// The turn of the next operation that is matched by order. digest: of its plan.
  [[nodiscard]] Turn next_ordered(std::uint64_t digest) noexcept {
    add_to_history(digest);
    return {static_cast<std::int64_t>(next_ordered_++), history_};
  }
  /// Returns true once all ranks have finished the operation that used the same cell before.
  [[nodiscard]] bool is_free(std::uint64_t ordered) noexcept {
    return ordered < known_completed_.load(std::memory_order_acquire) + ordered_cells || poll_completed(ordered);
  }
  [[nodiscard]] bool is_next_free() noexcept { return is_free(next_ordered_); }
  /// Prefetches the line that the next operation will write, so that the writer need not wait for it.
  void prepare_next() const noexcept {
    __builtin_prefetch(&cell(rank_, static_cast<int>(next_ordered_ % ordered_cells)).lines[0], 1);
  }
  /// In this operation only this rank's neighbours in the tree of that root read its lines.
  void note_near(std::uint64_t ordered, int root) noexcept {
    near_uses_[ordered % ordered_cells].store(near_use(ordered, root), std::memory_order_relaxed);
  }
  /// All ranks are known to have begun an operation, whose end shows that.
  void note_met(std::uint64_t ordered) noexcept { met_.store(ordered, std::memory_order_relaxed); }
  /// Records that this rank has finished an operation. Any thread.
  void complete(std::uint64_t ordered) noexcept;

  /// By the places of persistent operations: 1 where one owns cells, else 0.
  using Owners = std::array<std::uint8_t, persistent_owners>;
  /// Takes a pair of cells for a persistent operation and returns the first, or -1 if all have been given. Collective
  /// over the communicator.
  [[nodiscard]] int acquire_persistent();
  /// Equal on all ranks.
  [[nodiscard]] bool has_cells_to_give() const noexcept;
  /// Those that this rank holds.
  [[nodiscard]] Owners held() const noexcept;
  /// Gives all others again. by_any: held by any rank.
  void note_held(const Owners& by_any) noexcept;
  /// Its creation belongs to the history of the calls that are matched by order. digest: of its plan.
  void add_to_history(std::uint64_t digest) noexcept {
    // No two histories that differ become equal by the same call.
    history_ = std::rotl((history_ ^ digest) * 0x9E3779B97F4A7C15ULL, 29);
  }
  void give_back(Turn turn) noexcept override;
  void calibrate(Context& context, Costs& costs, Calibration kind) override;
  /// Returns true once all ranks have finished the start of this cell before.
  [[nodiscard]] bool is_start_free(int number, Generation generation) const noexcept {
    return generation <= known_started_[owner_of(number)] + starts_apart || are_finished(number, generation);
  }
  /// All ranks are known to have finished the starts of this cell's owner up to that generation.
  void note_started(int number, Generation generation) noexcept { known_started_[owner_of(number)] = generation; }
  /// Generation of this cell's next persistent start; equal on all ranks because all start it equally often.
  [[nodiscard]] Generation next_generation(int number) noexcept { return ++generations_[owner_of(number)]; }

  /// Wakes sleeping ranks. Call it after writing data that a rank may wait for.
  void wake() noexcept {
    if (oversubscribed_) wake_sleepers();
  }
  /// Sleeps until another rank writes, or a short time is over. The caller announces, polls once more, then backs off.
  void announce_backoff() noexcept override;
  [[nodiscard]] bool is_about_to_sleep() const noexcept {
    return control(rank_).asleep.load(std::memory_order_relaxed) != 0;
  }
  bool backoff() noexcept override;

  void describe(Machine& machine) const override;

  ~Arena() override;

 private:
  Arena(std::shared_ptr<ArenaPool> pool, Plot plot, const Context& context);

  /// The ways to create().
  [[nodiscard]] static std::unique_ptr<Arena> join(Context& context, std::string& reason);
  [[nodiscard]] static std::unique_ptr<Arena> found(Context& context, std::string& reason);

  template <typename T>
  [[nodiscard]] T& at(std::size_t offset) const {
    return *reinterpret_cast<T*>(base_ + offset);
  }
  void introduce() noexcept;
  /// Makes this rank's early pages ready for a new communicator. Returns false if there is no room.
  [[nodiscard]] bool settle() noexcept;
  /// Attaches the other ranks' memory, if the first communicator could. Returns false if it cannot.
  [[nodiscard]] bool attach_peers() noexcept;
  void wait_for_all(const Context& context) const;
  /// For the first communicator of its processes. Collective.
  [[nodiscard]] ArenaPool::Findings explore(const Context& context);
  void use(const ArenaPool::Findings& findings);
  void offer_memory();
  [[nodiscard]] bool reserve_part(const std::string& name);
  void reserve_once(std::array<bool, all_cells>& has, int number, Layout::Pages pages);
  [[nodiscard]] bool reserve_ring(RingKind kind);
  void reserve(Layout::Pages pages);
  /// Both cells of a persistent operation, of all ranks, because this rank may look at them before their rank does.
  void prepare_cells(int first);
  [[nodiscard]] bool probe_peers() noexcept;
  /// Tries single copies, by the kernel and by XPMEM, and agrees on both. Collective. Returns what is missing, in
  /// words.
  [[nodiscard]] std::string try_copies(MPI_Comm comm);
  [[nodiscard]] bool all_have_segments() const noexcept;
  [[nodiscard]] bool any_has_segment() const noexcept;
  /// Attaches a word of every other rank's memory, reads it, and answers by writing this rank's.
  [[nodiscard]] bool answer_peers();
  [[nodiscard]] bool is_answered() const noexcept;
  void wake_sleepers() noexcept;
  [[nodiscard]] bool poll_completed(std::uint64_t ordered) noexcept;
  /// A number that no other operation of that cell has, nor one with another root.
  [[nodiscard]] static std::uint64_t near_use(std::uint64_t ordered, int root) noexcept {
    return (ordered + 1) * most_ranks + static_cast<std::uint64_t>(root);
  }
  /// Returns true once all neighbours in the tree of that root have finished an operation.
  [[nodiscard]] bool are_near_done(std::uint64_t ordered, int root) noexcept;
  /// The operations that all ranks have finished, as far as it is known without a look at the others: a rank that has
  /// begun one has finished all blocking ones before it.
  [[nodiscard]] std::uint64_t completed_by_met() const noexcept;
  /// The place of a persistent operation among those that own cells.
  [[nodiscard]] static std::size_t owner_of(int number) noexcept {
    return static_cast<std::size_t>((number - ordered_cells) / starts_apart);
  }
  [[nodiscard]] bool are_finished(int number, Generation generation) const noexcept;
  [[nodiscard]] bool poll_streamed(std::uint64_t before) noexcept;
  void complete_in_turn(std::uint64_t ordered) noexcept;
  void complete_early(std::uint64_t ordered) noexcept;
  void take_refused() noexcept;

  std::shared_ptr<ArenaPool> pool_;
  Plot plot_;
  std::byte* base_;
  Layout layout_;
  int rank_;
  int size_;
  bool oversubscribed_;
  bool is_settled_ = false;  ///< this rank's early pages are reserved
  bool threaded_ = false;    ///< several threads of this rank may complete operations
  bool single_copy_ = false;
  bool mapped_copy_ = false;
  std::array<bool, all_cells> has_slot_{};
  std::array<bool, all_cells> has_pairs_{};
  std::array<bool, all_cells> has_cells_{};
  /// never: there was not enough room
  enum class Having : std::uint8_t { not_yet, yes, never };
  std::array<Having, ring_kinds> has_ring_{};
  std::array<Ring, ring_kinds> rings_{Ring(near_ring_bytes), Ring(wide_ring_bytes)};
  std::shared_ptr<const TreePlaces> tree_{};
  std::uint64_t probe_word_ = 0;
  std::vector<std::uint64_t> answers_{};              ///< by other ranks, through XPMEM
  std::vector<std::shared_ptr<PeerMemory>> peers_{};  ///< by rank; empty if their memory cannot be attached
  std::string segment_report_{};                      ///< the reason why this rank's memory cannot be attached
  std::uint64_t next_ordered_ = 0;
  std::uint64_t history_ = 0;  ///< digest of all calls that are matched by order, and of those that were refused
  std::atomic<std::uint64_t> known_completed_{0};                      ///< used by all ranks
  std::array<std::atomic<std::uint64_t>, ordered_cells> near_uses_{};  ///< by cell; 0: none
  std::atomic<std::uint64_t> near_done_{0};  ///< near_use() of the last operation that the neighbours have finished
  std::atomic<std::uint64_t> met_{0};        ///< the last operation that all ranks are known to have begun
  std::uint64_t next_streamed_ = 0;
  std::uint64_t known_streamed_ = 0;  ///< calls by rings that all ranks have finished
  std::atomic_flag completing_ = ATOMIC_FLAG_INIT;
  std::uint64_t completed_ = 0;
  std::array<bool, std::bit_ceil(unsigned{ordered_cells})> done_{};
  std::deque<std::uint64_t> refused_{};  ///< numbers of refused calls for which done_ has no place yet
  std::array<std::atomic<bool>, persistent_owners> in_use_{};
  std::array<bool, persistent_owners> given_{};
  std::array<Generation, persistent_owners> generations_{};
  std::array<Generation, persistent_owners> known_started_{};  ///< finished on all ranks
};

/// The shared memory of a communicator that has some.
[[nodiscard]] inline Arena& arena_of(const Context& context) {
  return static_cast<Arena&>(*context.state_of(shm_backend));
}

}  // namespace tutti::detail::shm
