// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/protocol.hpp"

#include <algorithm>
#include <array>

#include "backends/shm/geometry.hpp"
#include "backends/shm/layout.hpp"
#include "backends/shm/pieces.hpp"

namespace tutti::detail::shm {
namespace {

constexpr std::array<std::string_view, 4> names = {"automatic", "line", "slots", "single_copy"};

/// The number of blocks of `count` elements that the rank with most data publishes.
std::size_t blocks_published(Operation operation, int size) {
  if (operation == Operation::barrier) return 0;
  return schedules::is_split(operation) && operation != Operation::reduce_scatter ? static_cast<std::size_t>(size) : 1;
}

std::size_t slot_share(const Signature& signature, int size) {
  if (!schedules::is_split(signature.operation)) return slot_bytes;
  return slot_bytes / static_cast<std::size_t>(size) / cache_line * cache_line;
}

/// The size of one chunk of a block that does not fit, in whole lines.
std::size_t half_share(const Signature& signature, int size) {
  return slot_share(signature, size) / 2 / cache_line * cache_line;
}

bool fits_lines(const Signature& signature, int size) {
  const std::size_t block = signature.count * signature.type.size();
  const auto ranks = static_cast<std::size_t>(size);
  if (block > cell_lines / 2 * line_bytes) return false;
  if (lines_of(block) * (schedules::is_split(signature.operation) ? ranks : 1) > cell_lines) return false;
  if (!combines(signature.operation)) return true;
  return block <= most_combined_block && ranks * cache_line <= most_combined_bytes &&
         (ranks - 1) * combined_room(block) <= most_combined_bytes;
}

}  // namespace

std::string_view protocol_name(Protocol protocol) { return names[static_cast<std::size_t>(protocol)]; }

bool find_protocol(std::string_view name, Protocol& protocol) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return false;
  protocol = static_cast<Protocol>(found - names.begin());
  return true;
}

std::size_t published_bytes(const Signature& signature, int size) {
  if (schedules::is_varying(signature.operation)) return 0;
  return signature.count * signature.type.size() * blocks_published(signature.operation, size);
}

bool can_do(Protocol protocol, const Signature& signature, int size, bool single_copy) {
  const bool is_varying = schedules::is_varying(signature.operation);
  const std::size_t bytes = published_bytes(signature, size);
  const bool goes_on_alone = signature.kind != CallKind::blocking;
  switch (protocol) {
    case Protocol::automatic:
      return is_varying && (single_copy || !goes_on_alone);
    case Protocol::line:
      return !is_varying && fits_lines(signature, size);
    case Protocol::slots:
      if (is_varying) return false;
      if (combines(signature.operation) && signature.type.size() > half_share(signature, size)) return false;
      return bytes <= slot_bytes || !goes_on_alone;
    case Protocol::single_copy:
      return !is_varying && single_copy && signature.operation != Operation::barrier;
  }
  return false;
}

double predict(Protocol protocol, const Signature& signature, int size, bool oversubscribed) {
  // Measured with two ranks on one present-day server node: a line between cores, a turn of processes on one core, the
  // rate into and out of a slot, a copying system call, and its rate.
  constexpr double line_seconds = 60e-9;
  constexpr double switch_seconds = 1.2e-6;
  constexpr double write_rate = 9e9;
  constexpr double read_rate = 14e9;
  constexpr double lone_call_seconds = 0.63e-6;
  constexpr double call_seconds = 1.1e-6;
  constexpr double copy_rate = 16e9;
  const double ranks = size;
  const double others = ranks - 1;
  const auto bytes = static_cast<double>(published_bytes(signature, size));
  const Operation operation = signature.operation;
  const bool is_split = schedules::is_split(operation);
  const double start = line_seconds * ranks + (oversubscribed ? switch_seconds * ranks : 0);
  const double given = is_split ? bytes * others / ranks : bytes;
  const double taken = is_split ? bytes * others / ranks : bytes * others;
  const bool is_one_sided =
      operation == Operation::bcast || operation == Operation::gather || operation == Operation::scatter;
  switch (protocol) {
    case Protocol::automatic:
      return start;
    case Protocol::line:
      return start + line_seconds / 8 * static_cast<double>(lines_of(static_cast<std::size_t>(taken)));
    case Protocol::slots:
      return start + line_seconds + given / write_rate + taken / read_rate;
    case Protocol::single_copy: {
      // The ranks share the work: both sides make one-sided copies, and all ranks add and pass on sums.
      if (operation == Operation::reduce && bytes <= static_cast<double>(root_alone_bytes))
        return start + 0.2e-6 + lone_call_seconds * others + taken / read_rate;
      if (is_one_sided) return start + lone_call_seconds + taken / ranks / copy_rate;
      const bool hands_on = combines(operation) && !is_split;
      const double calls = hands_on ? 2 * others : others;
      const double work = operation == Operation::allreduce ? 2 * bytes * others / ranks
                          : hands_on                        ? 1.5 * bytes * others / ranks
                                                            : taken;
      return start + 0.2e-6 + calls * call_seconds + work / copy_rate;
    }
  }
  return start;
}

}  // namespace tutti::detail::shm
