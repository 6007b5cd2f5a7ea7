// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "diagnosis/trace/record.hpp"

namespace tutti::detail::trace {

/// A call of a trace; none: part is negative.
struct Link {
  int part = -1;
  std::size_t call = 0;
  [[nodiscard]] explicit operator bool() const { return part >= 0; }
};

/// Times are nanoseconds; wait and end: 0 if there is none.
struct TracedCall {
  flight::Facts facts{};
  flight::State state = flight::State::none;
  std::uint32_t thread = 0;
  SlotNumber slot = 0;
  std::int64_t begin = 0;
  std::int64_t wait = 0;
  std::int64_t end = 0;
  std::int64_t waited = 0;  ///< for another rank, inside this call or in the wait for its request
  Link cause{};             ///< the call of that rank, which began too late
  Link message{};           ///< of a receive: its send
};

/// A message of a group of them.
struct Transfer {
  SlotNumber group = 0;
  bool is_recv = false;
  int peer = -1;
  int tag = -1;
  std::uint64_t bytes = 0;
};

/// The blocks of a call with counts, one for each rank, in bytes.
struct Blocks {
  std::vector<std::uint64_t> given{};
  std::vector<std::uint64_t> taken{};
};

struct TracedRange {
  std::string name{};
  std::uint32_t thread = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;  ///< 0: none
};

struct Communicator {
  std::uint64_t mark = 0;  ///< equal on its ranks; 0: not known
  int rank = 0;
  int size = 0;
  std::string name{};
};

/// Ticks of this part's machine and of that of rank 0, at one moment.
struct Offset {
  std::uint64_t own = 0;
  std::uint64_t other = 0;
  std::uint64_t round_trip = 0;
};

/// What one rank has recorded.
struct Part {
  PartHeader header{};
  std::string host{};
  std::vector<TracedCall> calls{};                  ///< in the order of their begin
  std::vector<Transfer> transfers{};                ///< those of one group follow one another
  std::unordered_map<SlotNumber, Blocks> blocks{};  ///< by the slots of their calls
  std::vector<TracedRange> ranges{};
  std::map<std::uint32_t, Communicator> communicators{};  ///< by their numbers
  std::map<flight::TextNumber, std::string> texts{};
  std::vector<Offset> offsets{};

  [[nodiscard]] const Communicator& communicator(const TracedCall& call) const;
  [[nodiscard]] const std::string& text(flight::TextNumber number) const;
  /// The messages of a group; none of another call.
  [[nodiscard]] std::span<const Transfer> messages(const TracedCall& group) const;
  /// The time at which the program was held by a call, and that at which the call let it go, or the record ends.
  [[nodiscard]] std::int64_t held_from(const TracedCall& call) const;
  [[nodiscard]] std::int64_t held_until(const TracedCall& call) const;
  std::int64_t seen = 0;  ///< when the record ends
};

/// Reads the begin of a part; nothing if the file is none.
[[nodiscard]] std::optional<PartHeader> read_header(const std::string& path);

/// Reads a part. Its times are ticks, as unsigned numbers of the same bits, until align() has run. Gives nothing, with
/// the problem in words, if the file is none or is damaged.
[[nodiscard]] std::optional<Part> read_part(const std::string& path, std::string& problem);

}  // namespace tutti::detail::trace
