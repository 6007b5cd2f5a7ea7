// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backends/shm/protocol.hpp"

/// What lies where in the segment of a communicator: for each rank a control line and its cells. An operation uses the
/// cell of one number on every rank. Each word has one writer, but for those of Work and Pair, which are counted up by
/// whoever takes a piece of the work.
namespace tutti::detail::shm {

inline constexpr std::size_t cache_line = 64;

/// Cells for operations that are matched by their order, and those that persistent operations own: each has two, for
/// its even and its odd starts, so that a rank that starts it again publishes at once, although others have yet to
/// finish.
inline constexpr int ordered_cells = 16;
inline constexpr int persistent_owners = 16;
inline constexpr int starts_apart = 2;
inline constexpr int all_cells = ordered_cells + starts_apart * persistent_owners;
inline constexpr std::size_t slot_bytes = std::size_t{32} << 10U;
inline constexpr int most_ranks = 256;

/// One use of a cell has a generation that no earlier use had; words of older ones count as zero.
using Generation = std::uint64_t;
inline constexpr unsigned count_bits = 24;
[[nodiscard]] constexpr std::uint64_t tagged(Generation generation, std::uint64_t count) {
  return generation << count_bits | count;
}
[[nodiscard]] constexpr std::uint64_t count_of(std::uint64_t word, Generation generation) {
  // Compared as it was stored: a long-lived communicator counts beyond the bits that a generation has here.
  return (word ^ tagged(generation, 0)) >> count_bits == 0 ? word & ((std::uint64_t{1} << count_bits) - 1) : 0;
}

struct alignas(cache_line) Control {
  std::atomic<std::uint64_t> completed;  ///< ordered operations that this rank has finished, without a gap
  std::atomic<std::uint32_t> asleep;     ///< futex: the rank sleeps until somebody writes 0
  std::int32_t process;
  std::uint64_t probe_address;  ///< of a word in the rank's own memory, to try single copies with
  std::uint64_t probe_value;
};

/// Flag and payload in one line; the flag counts the chunks that the rank has published.
struct alignas(cache_line) Line {
  std::atomic<std::uint64_t> flag;
  std::byte payload[line_bytes];
};
static_assert(sizeof(Line) == cache_line);

struct alignas(cache_line) Progress {
  std::atomic<std::uint64_t> consumed;  ///< chunks that the rank has taken from all it takes from
  std::atomic<std::uint64_t> done;      ///< last generation of a persistent operation that the rank has finished
};

/// Where the rank's buffers are.
struct Location {
  std::uint64_t address;
  std::uint64_t allocation;  ///< 0: not from the library's allocator
  std::uint64_t offset;      ///< in the rank's part of the allocation
};

/// What a rank says of its buffers: in the line of its flag, so that both come at once.
struct Descriptor {
  Location input;
  Location output;
  std::uint64_t largest;  ///< bytes of the largest block that the rank gives
};
static_assert(sizeof(Descriptor) <= line_bytes);

/// Pieces of a range of the result, taken and finished.
struct alignas(cache_line) Work {
  std::atomic<std::uint64_t> taken;
  std::atomic<std::uint64_t> finished;
};

/// The block that a rank (the index) gives to this cell's rank.
struct Pair {
  std::atomic<std::uint64_t> taken;
  std::atomic<std::uint64_t> finished;
  std::uint64_t take_bytes;   ///< of that block, as this rank says
  std::uint64_t give_bytes;   ///< of what this rank gives to the indexed one
  std::uint64_t take_offset;  ///< bytes into this rank's output
  std::uint64_t give_offset;  ///< bytes into this rank's input of what it gives to the indexed rank
};

/// Lines of a cell, for messages that go as lines.
inline constexpr std::size_t cell_lines = 80;
/// Copies of contributions that are combined from lines, and the largest of them: above, a second copy costs more than
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
};

class Layout {
 public:
  explicit constexpr Layout(int size)
      : pairs_bytes_(round_up(static_cast<std::size_t>(size) * sizeof(Pair))),
        cell_bytes_(sizeof(Cell) + pairs_bytes_ + slot_bytes),
        rank_bytes_(sizeof(Control) + all_cells * cell_bytes_) {}

  [[nodiscard]] constexpr std::size_t rank_bytes() const { return rank_bytes_; }
  [[nodiscard]] constexpr std::size_t control(int rank) const {
    return cache_line + static_cast<std::size_t>(rank) * rank_bytes_;
  }
  [[nodiscard]] constexpr std::size_t cell(int rank, int number) const {
    return control(rank) + sizeof(Control) + static_cast<std::size_t>(number) * cell_bytes_;
  }
  [[nodiscard]] constexpr std::size_t pairs(int rank, int number) const { return cell(rank, number) + sizeof(Cell); }
  [[nodiscard]] constexpr std::size_t slot(int rank, int number) const { return pairs(rank, number) + pairs_bytes_; }
  [[nodiscard]] constexpr std::size_t total(int size) const { return control(size); }

 private:
  static constexpr std::size_t round_up(std::size_t bytes) {
    return (bytes + cache_line - 1) / cache_line * cache_line;
  }
  std::size_t pairs_bytes_;
  std::size_t cell_bytes_;
  std::size_t rank_bytes_;
};

}  // namespace tutti::detail::shm
