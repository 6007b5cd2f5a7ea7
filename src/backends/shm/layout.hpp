// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backends/shm/protocol.hpp"
#include "core/arithmetic.hpp"
#include "operation/call_record.hpp"

/// The layout of a communicator's arena: a part for each rank, of a head, a control line, cells, slots and pairs. An
/// operation uses the cell with the same number on every rank. Each word has one writer, except the words of Work and
/// Pair, which every rank that takes a part of the work increments.
namespace tutti::detail::shm {

inline constexpr std::size_t cache_line = 64;

/// Cells for operations that are matched by order, and cells that persistent operations own. A persistent operation
/// owns two cells, for its even and odd starts, so that a rank that starts it again can publish at once, before other
/// ranks have finished.
/// There are as many as 64 KiB hold, which is what a rank reserves for short calls.
inline constexpr int ordered_cells = 12;
inline constexpr int persistent_owners = 16;
inline constexpr int starts_apart = 2;
inline constexpr int all_cells = ordered_cells + starts_apart * persistent_owners;
inline constexpr std::size_t slot_bytes = std::size_t{32} << 10U;
inline constexpr int most_ranks = 256;

/// Rings for blocking calls, each of which takes a place behind that of the one before. They belong to no cell: a rank
/// makes such calls one after the other, so few places are in use. The near ring stays in the caches of its cores. But
/// a line that another core still has in its caches may take long to write: into the wide ring, which is longer than
/// those caches, a rank may write several times as fast.
enum class RingKind : std::uint8_t { near, wide };
inline constexpr std::size_t ring_kinds = 2;
/// The most that a call takes of the near ring, which holds two such calls.
inline constexpr std::size_t stream_bytes = std::size_t{128} << 10U;
inline constexpr std::size_t near_ring_bytes = 2 * stream_bytes;
/// Twice the caches of a core, on most processors.
inline constexpr std::size_t wide_ring_bytes = std::size_t{2} << 20U;
[[nodiscard]] constexpr std::size_t ring_bytes(RingKind kind) {
  return kind == RingKind::near ? near_ring_bytes : wide_ring_bytes;
}

/// Each use of a cell has a new generation; words of older generations count as zero.
using Generation = std::uint64_t;
inline constexpr unsigned count_bits = 24;
[[nodiscard]] constexpr std::uint64_t tagged(Generation generation, std::uint64_t count) {
  return generation << count_bits | count;
}
[[nodiscard]] constexpr std::uint64_t count_of(std::uint64_t word, Generation generation) {
  // Compared in stored form, because a long-lived communicator counts beyond the bits stored here.
  return (word ^ tagged(generation, 0)) >> count_bits == 0 ? word & ((std::uint64_t{1} << count_bits) - 1) : 0;
}

/// The mark of a call: the bits of its history (Arena::next_ordered()) that it carries beside its data. The flag of a
/// line has it in place of a count. Its highest bit tells the two apart, so that no rank takes a mark for a count.
inline constexpr std::uint64_t mark_bit = std::uint64_t{1} << (count_bits - 1);
[[nodiscard]] constexpr std::uint64_t mark_of(std::uint64_t history) { return history >> (65 - count_bits) | mark_bit; }
/// The greatest number of chunks that a flag can count.
inline constexpr std::uint64_t most_chunks = mark_bit - 2;

enum class FailureState : std::uint32_t { none, being_written, written };

/// The head of an arena, in the part of rank 0: how its ranks come and go, and the first failure of a rank, which ends
/// the waits of all others. The first arena of a segment also has what belongs to the whole segment.
struct Head {
  std::atomic<std::uint64_t> mark;         ///< tells the segment from another file of the same name
  std::atomic<std::uint64_t> free;         ///< of the segment: a bit for each arena that no communicator uses
  std::atomic<std::uint64_t> warm;         ///< of the segment: a bit for each free arena that has kept its early pages
  std::atomic<std::uint32_t> joined;       ///< number of ranks that have come to this arena, or have given it up
  std::atomic<std::uint32_t> left;         ///< number of ranks that will use it no more
  std::atomic<std::uint32_t> no_room;      ///< a rank could not reserve its part, or attach others' memory
  std::atomic<std::uint32_t> given_up_by;  ///< a rank that could not make its communicator, counted from 1; 0: none
  std::atomic<std::uint32_t> grown;        ///< a rank has reserved more than the early pages
  alignas(cache_line) std::atomic<FailureState> failure;
  std::int32_t rank;
  std::int32_t code;
  char reason[1024];  ///< ends with a null character
};

struct alignas(cache_line) Control {
  std::atomic<std::uint64_t> completed;  ///< number of ordered operations that this rank has finished without a gap
  std::atomic<std::uint32_t> asleep;     ///< futex: the rank sleeps until another rank writes 0
  std::int32_t process;
  std::uint32_t used;           ///< number of cells that the rank must clear before another communicator uses them
  std::uint64_t probe_address;  ///< address of a word in the rank's memory, for the trial of single copies
  std::uint64_t probe_value;
  std::int64_t segment;                 ///< the rank's memory for XPMEM; 0: none
  std::uint64_t answer_address;         ///< address of words in the rank's memory, one per rank, for the trial of XPMEM
  std::atomic<std::uint64_t> streamed;  ///< number of calls by rings that this rank has finished
};

/// A flag and its payload in one line; the flag counts the chunks that the rank has published.
struct alignas(cache_line) Line {
  std::atomic<std::uint64_t> flag;
  std::byte payload[line_bytes];
};
static_assert(sizeof(Line) == cache_line);

struct alignas(cache_line) Progress {
  std::atomic<std::uint64_t> consumed;  ///< number of chunks that the rank has taken from all its givers
  std::atomic<std::uint64_t> done;      ///< last generation of a persistent operation that the rank has finished
};

/// The location of a rank's buffer.
struct Location {
  std::uint64_t address;
  std::uint64_t allocation;  ///< 0: memory from another allocator
  std::uint64_t offset;      ///< offset in the rank's part of the allocation
};

/// The place of a rank's call in its memory of rings, which its takers read. Each rank chooses its own.
struct RingPlace {
  std::uint64_t offset;  ///< in the rank's part of the arena, bytes
  std::uint64_t share;   ///< of the block for one taker, bytes
  std::uint64_t places;  ///< chunks that a share holds
};
static_assert(sizeof(RingPlace) == sizeof(Location));

/// A rank's description of its buffers, in the line of its flag so that both arrive together.
struct Descriptor {
  union {
    Location input;
    RingPlace ring;
  };
  Location output;
  std::uint64_t marked;  ///< marked_size() of the call and the largest block that the rank gives
};
static_assert(sizeof(Descriptor) <= line_bytes);

/// A size in bytes, beside the mark of the call; greater sizes than it can hold count as the greatest.
inline constexpr unsigned size_bits = 64 - count_bits;
inline constexpr std::uint64_t most_size = (std::uint64_t{1} << size_bits) - 1;
[[nodiscard]] constexpr std::uint64_t marked_size(std::uint64_t mark, std::uint64_t bytes) {
  return mark << size_bits | (bytes < most_size ? bytes : most_size);
}

/// The call that a rank makes in a cell, for ranks that wait in vain and for the texts of their errors. No call that
/// meets its like reads it.
struct alignas(cache_line) Record {
  std::atomic<Generation> generation;  ///< written last
  std::uint64_t history;               ///< digest of the call and, if it is matched by order, of all calls before it
  std::uint64_t digest;                ///< digest of the call alone
  std::uint64_t count;
  std::uint64_t unit;  ///< size of an element, in bytes
  std::int32_t root;
  flight::Call call;
  std::uint8_t kind;
  std::uint8_t type;
  std::uint8_t op;
  std::uint8_t protocol;
  bool refused;  ///< the rank ended the call with an error before it gave anything
};
static_assert(sizeof(Record) == cache_line);

/// Counters of the parts of a result range that are taken and finished.
struct alignas(cache_line) Work {
  std::atomic<std::uint64_t> taken;
  std::atomic<std::uint64_t> finished;
};

/// The block that the rank with this index gives to this cell's rank.
struct Pair {
  std::atomic<std::uint64_t> taken;
  std::atomic<std::uint64_t> finished;
  std::uint64_t take_bytes;   ///< size of that block according to this rank, in bytes
  std::uint64_t give_bytes;   ///< size of this rank's block for the indexed rank, in bytes
  std::uint64_t take_offset;  ///< offset in this rank's output, in bytes
  std::uint64_t give_offset;  ///< offset in this rank's input of its block for the indexed rank, in bytes
};

/// The number of lines in a cell, for messages that travel in lines.
inline constexpr std::size_t cell_lines = 80;
/// Limits on the contributions that are copied to be combined from lines: beyond them the second copy costs more than
/// the lines save.
inline constexpr std::size_t most_combined_bytes = 8192;
inline constexpr std::size_t most_combined_block = 2048;

[[nodiscard]] constexpr std::size_t lines_of(std::size_t bytes) {
  return bytes == 0 ? 1 : (bytes + line_bytes - 1) / line_bytes;
}
[[nodiscard]] constexpr std::size_t combined_room(std::size_t bytes) {
  return (bytes + cache_line - 1) / cache_line * cache_line;
}

struct Cell {
  Line lines[cell_lines];  ///< the flag of the first also counts the chunks of the other protocols
  Progress progress;
  Work work;
  Record record;
};

static_assert(sizeof(Control) == cache_line);

/// The arena: one part per rank, of which only the first uses its head. A part begins at a page, so that its rank can
/// place it on its own NUMA domain: first what every call may touch, then the slots, then the pairs, which only
/// transfers between callers' buffers touch, then the rings.
class Layout {
 public:
  static constexpr std::size_t page = 4096;

  explicit constexpr Layout(int size)
      : pairs_bytes_(round_up(static_cast<std::size_t>(size) * sizeof(Pair), cache_line)),
        pairs_begin_(slots_begin() + all_cells * slot_bytes),
        rings_begin_(round_up(pairs_begin_ + all_cells * pairs_bytes_, page)) {}

  [[nodiscard]] constexpr std::size_t rank_bytes() const { return promised_bytes() + wide_ring_bytes; }
  /// What a rank may need. The wide ring, behind it, is used only where there is more than enough room.
  [[nodiscard]] constexpr std::size_t promised_bytes() const { return rings_begin_ + near_ring_bytes; }
  [[nodiscard]] constexpr std::size_t part(int rank) const { return static_cast<std::size_t>(rank) * rank_bytes(); }
  [[nodiscard]] constexpr std::size_t control(int rank) const { return part(rank) + sizeof(Head); }
  [[nodiscard]] constexpr std::size_t cell(int rank, int number) const {
    return control(rank) + sizeof(Control) + static_cast<std::size_t>(number) * sizeof(Cell);
  }
  [[nodiscard]] constexpr std::size_t slot(int rank, int number) const {
    return part(rank) + slots_begin() + static_cast<std::size_t>(number) * slot_bytes;
  }
  [[nodiscard]] constexpr std::size_t pairs(int rank, int number) const {
    return part(rank) + pairs_begin_ + static_cast<std::size_t>(number) * pairs_bytes_;
  }
  [[nodiscard]] constexpr std::size_t ring(int rank, RingKind kind) const {
    return part(rank) + rings_begin_ + (kind == RingKind::wide ? near_ring_bytes : 0);
  }
  [[nodiscard]] constexpr std::size_t total(int size) const { return part(size); }

  /// What a rank reserves of its part when the arena is made, in bytes: all that short
  /// calls touch. The cells of persistent operations, the slots, the pairs and the rings follow when they are
  /// first used, because most communicators use few of them.
  [[nodiscard]] static constexpr std::size_t early_bytes() {
    return round_up(sizeof(Head) + sizeof(Control) + ordered_cells * sizeof(Cell), page);
  }
  /// Whole pages of an arena.
  struct Pages {
    std::size_t begin;
    std::size_t bytes;
  };
  [[nodiscard]] constexpr Pages slot_pages(int rank, int number) const {
    return pages_of(slot(rank, number), slot_bytes);
  }
  [[nodiscard]] constexpr Pages pairs_pages(int rank, int number) const {
    return pages_of(pairs(rank, number), pairs_bytes_);
  }
  [[nodiscard]] constexpr Pages ring_pages(int rank, RingKind kind) const {
    return pages_of(ring(rank, kind), ring_bytes(kind));
  }
  /// Those of both cells of a persistent operation.
  [[nodiscard]] constexpr Pages cells_pages(int rank, int first) const {
    return pages_of(cell(rank, first), starts_apart * sizeof(Cell));
  }

 private:
  static_assert(sizeof(Head) % cache_line == 0 && sizeof(Head) + sizeof(Control) <= page);
  static constexpr Pages pages_of(std::size_t begin, std::size_t bytes) {
    const std::size_t first = begin / page * page;
    return {first, round_up(begin + bytes, page) - first};
  }
  static constexpr std::size_t slots_begin() {
    return round_up(sizeof(Head) + sizeof(Control) + all_cells * sizeof(Cell), page);
  }

  std::size_t pairs_bytes_;
  std::size_t pairs_begin_;
  std::size_t rings_begin_;
};

}  // namespace tutti::detail::shm
