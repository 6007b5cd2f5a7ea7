// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "diagnosis/format.hpp"
#include "diagnosis/recorder_memory.hpp"
#include "diagnosis/trace/log.hpp"

namespace tutti::detail::flight {

/// The flight recorder of this process: a ring of its last calls, which other processes can read while it runs, and
/// after it was killed as long as one of them holds its memory. Any thread.
class Recorder {
 public:
  /// Null if TUTTI_FLIGHT=0 or there is no memory. Never destroyed, because MPI may be finalized after the statics.
  [[nodiscard]] static Recorder* instance();

  /// log: null unless the calls are also traced. has_threads: several threads may write calls at the same time.
  /// has_checksums: the memory is bytes_for() them too.
  Recorder(RecorderMemory&& memory, std::uint32_t entries, std::unique_ptr<trace::Log> log = nullptr,
           bool has_threads = true, bool has_checksums = false);

  /// Writes a call, and returns its number.
  [[nodiscard]] std::uint64_t begin(const Facts& facts, State state) noexcept {
    return write(facts, facts.sequence, state, next_number(), ticks());
  }
  /// The next one of calls that differ in their sequence alone. Who makes the call stamps it, behind what other ranks
  /// wait for, since a look at the clock costs as much as all else: until then it has the time of the call before.
  /// Copies no facts that were just written: a load of several recent smaller stores waits until these are in the
  /// cache, behind the stores to lines that other ranks poll.
  [[nodiscard]] std::uint64_t begin_again(const Facts& facts, std::uint32_t sequence, State state) noexcept {
    const std::uint64_t number = next_number();
    const std::uint64_t begin = !stamps_later() ? ticks() : entry_of(number - 1).begin;
    return write(facts, sequence, state, number, begin);
  }
  void stamp(std::uint64_t number) noexcept {
    if (stamps_later()) entry_of(number).begin = ticks();
  }
  /// Says that the program waits for an outstanding call, unless the ring holds it no more.
  void wait(std::uint64_t number) noexcept {
    Entry& entry = entry_of(number);
    State expected = State::outstanding;
    if (entry.number.load(std::memory_order_relaxed) == number &&
        !entry.state.compare_exchange_strong(expected, State::waiting, std::memory_order_relaxed))
      return;  // it waits already, or is over
    if (log_ != nullptr) [[unlikely]]
      log_->wait(trace_slot_of(number, false));
  }
  /// Writes the place of a call that was written before.
  void place(std::uint64_t number, TextNumber site) noexcept {
    Entry& entry = entry_of(number);
    if (entry.number.load(std::memory_order_relaxed) == number) entry.facts.site = site;
  }
  /// The same for the blocking calls on a communicator, which are among the last ones written.
  void place_running(std::uint32_t communicator, TextNumber site) noexcept;
  void end(std::uint64_t number, State state) noexcept {
    if (log_ != nullptr) [[unlikely]]
      log_->end_call(trace_slot_of(number, true), state);
    Entry& entry = entry_of(number);
    if (entry.number.load(std::memory_order_relaxed) != number) return;
    entry.end.store(ticks(), std::memory_order_relaxed);
    entry.state.store(state, std::memory_order_release);
    __builtin_prefetch(&entry_of(number + 1), 1);
  }

  /// Whether collectives are to write the checksums of their data.
  [[nodiscard]] bool has_checksums() const noexcept { return checksums_ != nullptr; }
  /// Write what a call gives, when it begins, and what it has taken, before its end.
  void sum(std::uint64_t number, const Summed& call) noexcept;
  void sum_taken(std::uint64_t number, const Digest& taken) noexcept;

  /// Tells the trace who has sent a message that was awaited from any rank or with any tag.
  void came_from(std::uint64_t number, int source, int tag) noexcept {
    if (log_ != nullptr) [[unlikely]]
      resolve_in_log(number, source, tag);
  }
  /// Null unless the calls are traced.
  [[nodiscard]] trace::Log* log() const noexcept { return log_.get(); }
  /// The slot of a call in the trace.
  [[nodiscard]] trace::SlotNumber trace_slot_of(std::uint64_t number, bool is_over) noexcept;

  /// The facts of a call that was written just now.
  [[nodiscard]] const Facts& facts_of(std::uint64_t number) noexcept { return entry_of(number).facts; }

  /// Writes a communicator, and returns the number of its row; the last one stands for all that have none. mark: equal
  /// on its ranks.
  [[nodiscard]] std::uint32_t add_communicator(std::uint64_t mark, int rank, int size, std::string_view name) noexcept;
  void remove_communicator(std::uint32_t number) noexcept;
  /// Writes that a communicator makes its n-th collective.
  void count(std::uint32_t number, std::uint32_t sequence) noexcept {
    parts_.communicators[row_of(number)].sequence.store(sequence, std::memory_order_relaxed);
  }
  /// The number of a text, which is written if it is new; 0 if there is no room.
  [[nodiscard]] TextNumber text(std::string_view text) noexcept;

  /// Writes who this process is, once that is known. job: equal in all processes that have met.
  void introduce(std::uint64_t job, int world_rank, int world_size) noexcept;
  /// Writes that MPI has ended.
  void finish() noexcept;
  /// Takes the memory of a process of this host, whose recorder has that descriptor, so that it outlives the process.
  /// Only the first that can be taken; the others have takers of their own.
  void keep(int process, int descriptor) noexcept;
  [[nodiscard]] int descriptor() const noexcept { return memory_.descriptor(); }

 private:
  [[nodiscard]] std::uint64_t next_number() noexcept {
    std::atomic<std::uint64_t>& next = parts_.header->next;
    if (has_threads_) return next.fetch_add(1, std::memory_order_relaxed) + 1;
    // An addition that other threads may make too waits for all stores before it, as for the lines of the last call.
    const std::uint64_t number = next.load(std::memory_order_relaxed) + 1;
    next.store(number, std::memory_order_relaxed);
    return number;
  }
  [[nodiscard]] Entry& entry_of(std::uint64_t number) noexcept { return parts_.entries[number & mask_]; }
  /// Other threads may write the entry before at the same time, and the trace writes the time at once.
  [[nodiscard]] bool stamps_later() const noexcept { return !has_threads_ && log_ == nullptr; }
  std::uint64_t write(const Facts& facts, std::uint32_t sequence, State state, std::uint64_t number,
                      std::uint64_t begin) noexcept {
    Entry& entry = entry_of(number);
    if (log_ != nullptr) [[unlikely]]
      begin_in_log(entry, facts, sequence, state);
    entry.number.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    entry.begin = begin;
    entry.end.store(0, std::memory_order_relaxed);
    entry.facts = facts;
    entry.facts.sequence = sequence;
    entry.state.store(state, std::memory_order_relaxed);
    entry.number.store(number, std::memory_order_release);
    return number;
  }

  void begin_in_log(Entry& entry, const Facts& facts, std::uint32_t sequence, State state) noexcept;
  void resolve_in_log(std::uint64_t number, int source, int tag) noexcept;

  RecorderMemory memory_;
  Parts<std::byte> parts_;
  std::uint64_t mask_;
  bool has_threads_;  ///< several threads may make calls at the same time
  std::mutex mutex_;
  int kept_ = -1;
  std::unique_ptr<trace::Log> log_;
  ChecksumRow* checksums_ = nullptr;
};

/// A call that was written, in the hands of those who make it.
struct Note {
  Recorder* recorder = nullptr;
  std::uint64_t number = 0;

  void stamp() const noexcept {
    if (recorder != nullptr) recorder->stamp(number);
  }
  void wait() const noexcept {
    if (recorder != nullptr) recorder->wait(number);
  }
  void end(State state) const noexcept {
    if (recorder != nullptr) recorder->end(number, state);
  }
  void came_from(int source, int tag) const noexcept {
    if (recorder != nullptr) recorder->came_from(number, source, tag);
  }
  /// Of a call that was written just now: it is the n-th collective of its communicator; 0: no collective, or unknown.
  [[nodiscard]] std::uint32_t sequence() const noexcept {
    return recorder != nullptr ? recorder->facts_of(number).sequence : 0;
  }
};

/// Writes the place in the program where this thread is: that of an outstanding call, or without one that of the
/// blocking calls on a communicator.
void record_place(const Note& outstanding, Recorder* recorder, std::uint32_t communicator) noexcept;

/// Writes the end of a call when this object ends: without a call of succeed() it has failed.
class Recording {
 public:
  explicit Recording(const Note& note) noexcept : note_(note) {}
  ~Recording() { note_.end(state_); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  void succeed() noexcept { state_ = State::done; }
  /// Leaves the end to an execution.
  void hand_over() noexcept { note_.recorder = nullptr; }

 private:
  Note note_;
  State state_ = State::failed;
};

/// While it lives, the program can do nothing but wait for the requests that this thread tests, so that a test that
/// fails begins a wait.
class Held {
 public:
  Held() noexcept { ++depth(); }
  ~Held() { --depth(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  [[nodiscard]] static bool is_held() noexcept { return depth() != 0; }

 private:
  static int& depth() noexcept {
    thread_local int count = 0;
    return count;
  }
};

}  // namespace tutti::detail::flight
