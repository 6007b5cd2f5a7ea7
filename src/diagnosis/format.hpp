// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "diagnosis/calls.hpp"
#include "diagnosis/digest.hpp"
#include "diagnosis/ticks.hpp"

/// The memory of a flight recorder, as other processes read it: a Header, then the rows of communicators, texts, the
/// ring of entries, and with TUTTI_CHECKSUM a ring of as many rows of checksums. Numbers are the machine's own; a
/// reader must be of the same version.
namespace tutti::detail::flight {

inline constexpr std::uint64_t magic = 0x7468676c66747574;  // "tutflght"
inline constexpr std::uint32_t version = 3;

/// Peers and tags: wildcards.
inline constexpr std::int32_t any = -2;

/// A number that stands for a text: the place of its row. 0: none.
using TextNumber = std::uint16_t;

/// The facts of a recorded call: those that must be equal on all ranks, and those of this rank.
struct Facts {
  std::uint64_t bytes = 0;         ///< that this rank gives or takes, whichever are more
  std::uint32_t communicator = 0;  ///< that of its row at the time
  std::uint32_t sequence = 0;      ///< it is the n-th collective of its communicator, from 1; 0: no collective
  std::int32_t peer = -1;          ///< root, source or destination, or any; -1: none
  std::int32_t tag = -1;           ///< or any; -1: none
  TextNumber site = 0;             ///< the place in the program
  TextNumber way = 0;              ///< "shm:slots"
  Call call = Call::barrier;
  Form form = Form::blocking;
  std::uint8_t type = 0;  ///< DatatypeKind; 0: none
  std::uint8_t op = 0;    ///< ReduceKind; 0: none
};

/// What is read of memory or of messages may be damaged.
[[nodiscard]] constexpr bool is_sound(const Facts& facts, State state) {
  return static_cast<int>(facts.call) < calls && facts.form <= Form::start && state <= State::failed;
}

struct alignas(64) Entry {
  std::atomic<std::uint64_t> number{0};  ///< from 1, of all entries of the process; 0 while it is written
  std::uint64_t begin = 0;               ///< ticks
  std::atomic<std::uint64_t> end{0};     ///< ticks; 0: it is not over
  Facts facts{};
  std::atomic<State> state{State::none};
  std::uint32_t trace_slot = 0;  ///< 0: none
};
static_assert(sizeof(Entry) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

/// The data of the collective whose entry has the same place in the ring.
struct alignas(64) ChecksumRow {
  std::atomic<std::uint64_t> number{0};        ///< that of the entry, from the beginning of the call on
  std::atomic<std::uint64_t> taken_number{0};  ///< the same, from its end on
  Summed call{};
};

struct alignas(64) CommunicatorRow {
  std::atomic<std::uint64_t> mark{0};  ///< equal on all its ranks, and no other's; 0: the row is free
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::atomic<std::uint32_t> sequence{0};  ///< of its last collective
  std::uint32_t number = 0;                ///< its place, and how often the place has been taken before, times 65536
  std::array<char, 40> name{};             ///< ends with a zero
};
static_assert(sizeof(CommunicatorRow) == 64);

struct TextRow {
  std::atomic<std::uint64_t> key{0};  ///< of what the text stands for; 0: the row is free
  std::array<char, 120> text{};       ///< ends with a zero
};
static_assert(sizeof(TextRow) == 128);

inline constexpr std::uint32_t communicator_rows = 256;
/// The place of the row that has such a number.
[[nodiscard]] constexpr std::uint32_t row_of(std::uint32_t communicator) { return communicator % 65536; }
inline constexpr std::uint32_t text_rows = 512;

struct alignas(64) Header {
  std::atomic<std::uint64_t> magic{0};  ///< written last
  std::uint32_t version = 0;
  std::uint32_t entries = 0;  ///< of the ring, a power of 2
  std::int32_t process = 0;   ///< in its own namespace
  std::int32_t world_rank = -1;
  std::int32_t world_size = 0;
  std::uint32_t ended = 0;          ///< 1: MPI was finalized
  std::uint32_t has_checksums = 0;  ///< 1: there are rows of them
  std::uint64_t job = 0;            ///< equal in all processes of a job that have met
  Moment opened{};
  Moment seen{};  ///< later than opened
  std::array<char, 64> host{};
  std::array<char, 256> command{};
  alignas(64) std::atomic<std::uint64_t> next{0};  ///< entries so far
};

[[nodiscard]] constexpr std::size_t bytes_for(std::uint32_t entries, bool has_checksums = false) {
  return sizeof(Header) + communicator_rows * sizeof(CommunicatorRow) + text_rows * sizeof(TextRow) +
         entries * (sizeof(Entry) + (has_checksums ? sizeof(ChecksumRow) : 0));
}

/// The parts of a recorder's memory.
template <typename Byte>
struct Parts {
  template <typename T>
  using Same = std::conditional_t<std::is_const_v<Byte>, const T, T>;
  explicit Parts(Byte* memory)
      : header(reinterpret_cast<Same<Header>*>(memory)),
        communicators(reinterpret_cast<Same<CommunicatorRow>*>(memory + sizeof(Header))),
        texts(reinterpret_cast<Same<TextRow>*>(communicators + communicator_rows)),
        entries(reinterpret_cast<Same<Entry>*>(texts + text_rows)) {}
  /// Behind so many entries, if the memory has checksums.
  [[nodiscard]] Same<ChecksumRow>* checksums(std::uint32_t of_entries) const {
    return reinterpret_cast<Same<ChecksumRow>*>(entries + of_entries);
  }
  Same<Header>* header;
  Same<CommunicatorRow>* communicators;
  Same<TextRow>* texts;
  Same<Entry>* entries;
};

/// The name of this host, as recorders have it.
[[nodiscard]] inline std::string host_name() {
  std::array<char, 64> name{};
  (void)gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace tutti::detail::flight
