// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "diagnosis/format.hpp"

/// The file in which a rank keeps its part of a trace: a page for PartHeader, then slots of 64 bytes. A record takes
/// one slot or two, and does not cross a window. Numbers are the machine's own; a reader must be of the same version.
namespace tutti::detail::trace {

inline constexpr std::uint64_t part_magic = 0x6563617274747574;  // "tuttrace"
inline constexpr std::uint32_t part_version = 2;

inline constexpr std::size_t header_bytes = 4096;
inline constexpr std::size_t slot_bytes = 64;
inline constexpr std::uint32_t slots_per_window = 16384;
inline constexpr std::size_t window_bytes = slots_per_window * slot_bytes;

/// A slot of a part, from 1; 0: none.
using SlotNumber = std::uint32_t;

struct PartHeader {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::int32_t process = 0;
  std::int32_t world_rank = -1;
  std::int32_t world_size = 0;
  std::uint32_t ended = 0;    ///< 1: MPI was finalized
  std::uint32_t slots = 0;    ///< in use
  std::uint64_t lost = 0;     ///< records for which there was no room
  std::uint64_t job = 0;      ///< equal in all processes that have met
  std::uint64_t machine = 0;  ///< equal in processes that share a counter of ticks
  flight::Moment opened{};
  flight::Moment seen{};  ///< later than opened
  std::array<char, 64> host{};
  std::array<char, 256> command{};
};
static_assert(sizeof(PartHeader) <= header_bytes);

enum class Kind : std::uint8_t { none, call, range, communicator, text, transfer, offset, blocks };

struct RecordHead {
  Kind kind = Kind::none;  ///< written last
  flight::State state = flight::State::none;
  flight::TextNumber text = 0;
  std::uint32_t number = 0;  ///< of the thread, or of the communicator
};

/// Times are ticks; 0: not yet.
struct CallRecord {
  RecordHead head{.kind = Kind::call};
  std::uint64_t begin = 0;
  std::uint64_t wait = 0;  ///< the program begins to wait for its end
  std::uint64_t end = 0;
  flight::Facts facts{};
};
static_assert(sizeof(CallRecord) == slot_bytes);

struct RangeRecord {
  RecordHead head{.kind = Kind::range};
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::array<char, 104> name{};  ///< ends with a zero
};
static_assert(sizeof(RangeRecord) == 2 * slot_bytes);

struct CommunicatorRecord {
  RecordHead head{.kind = Kind::communicator};
  std::uint64_t mark = 0;
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::array<char, 40> name{};  ///< ends with a zero
};
static_assert(sizeof(CommunicatorRecord) == slot_bytes);

struct TextRecord {
  RecordHead head{.kind = Kind::text};
  std::array<char, 120> text{};  ///< ends with a zero
};
static_assert(sizeof(TextRecord) == 2 * slot_bytes);

/// A message of a group.
struct TransferRecord {
  RecordHead head{.kind = Kind::transfer};
  std::uint64_t bytes = 0;
  SlotNumber group = 0;
  std::int32_t peer = -1;
  std::int32_t tag = -1;
  std::uint32_t is_recv = 0;
  std::array<std::uint64_t, 4> rest{};
};
static_assert(sizeof(TransferRecord) == slot_bytes);

/// A run of the blocks of a call with counts, in bytes.
struct BlocksRecord {
  static constexpr std::size_t most = 5;
  RecordHead head{.kind = Kind::blocks};
  SlotNumber call = 0;
  std::uint32_t first = 0;  ///< the rank of the first one
  std::uint32_t count = 0;
  std::uint32_t is_taken = 0;
  std::array<std::uint64_t, most> bytes{};
};
static_assert(sizeof(BlocksRecord) == slot_bytes);

/// The same moment on two machines, as well as a message of a process of one to the other tells.
struct OffsetRecord {
  RecordHead head{.kind = Kind::offset};
  std::uint64_t own = 0;         ///< ticks
  std::uint64_t other = 0;       ///< ticks of the machine of rank 0
  std::uint64_t round_trip = 0;  ///< own ticks
  std::array<std::uint64_t, 4> rest{};
};
static_assert(sizeof(OffsetRecord) == slot_bytes);

}  // namespace tutti::detail::trace
