// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/protocol.hpp"

#include <algorithm>
#include <array>

#include "backends/shm/geometry.hpp"
#include "backends/shm/layout.hpp"

namespace tutti::detail::shm {
namespace {

constexpr std::array<std::string_view, 4> names = {"automatic", "line", "slots", "single_copy"};

/// Blocks of `count` elements that the rank with most to give publishes.
std::size_t blocks_published(Operation operation, int size) {
  if (operation == Operation::barrier) return 0;
  return Geometry::is_split(operation) && operation != Operation::reduce_scatter ? static_cast<std::size_t>(size) : 1;
}

std::size_t slot_share(const Signature& signature, int size) {
  if (!Geometry::is_split(signature.operation)) return slot_bytes;
  return slot_bytes / static_cast<std::size_t>(size) / cache_line * cache_line;
}

/// What one chunk of a block has where a block does not fit: whole lines.
std::size_t half_share(const Signature& signature, int size) {
  return slot_share(signature, size) / 2 / cache_line * cache_line;
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
  if (Geometry::is_varying(signature.operation)) return 0;
  return signature.count * signature.type.size() * blocks_published(signature.operation, size);
}

bool can_do(Protocol protocol, const Signature& signature, int size, bool single_copy) {
  const bool is_varying = Geometry::is_varying(signature.operation);
  const std::size_t bytes = published_bytes(signature, size);
  const bool goes_on_alone = signature.kind != CallKind::blocking;
  switch (protocol) {
    case Protocol::automatic:
      return is_varying && (single_copy || !goes_on_alone);
    case Protocol::line:
      return !is_varying && bytes <= line_bytes;
    case Protocol::slots:
      if (is_varying) return false;
      if (Geometry::combines(signature.operation) && signature.type.size() > half_share(signature, size)) return false;
      return bytes <= slot_bytes || !goes_on_alone;
    case Protocol::single_copy:
      return !is_varying && single_copy && signature.operation != Operation::barrier;
  }
  return false;
}

double predict(Protocol protocol, const Signature& signature, int size, bool oversubscribed) {
  // Of one server node of today, two ranks: a line between cores, a system call, bytes a second of one core.
  constexpr double line_seconds = 60e-9;
  constexpr double switch_seconds = 1.2e-6;
  constexpr double call_seconds = 0.6e-6;
  constexpr double cached_rate = 12e9;
  constexpr double copy_rate = 16e9;
  constexpr double combine_rate = 20e9;
  const double ranks = size;
  const double others = ranks - 1;
  const auto bytes = static_cast<double>(published_bytes(signature, size));
  const bool combines = Geometry::combines(signature.operation);
  const bool is_split = Geometry::is_split(signature.operation);
  const double start = line_seconds * ranks + (oversubscribed ? switch_seconds * ranks : 0);
  // What one rank reads of the others.
  const double read = is_split ? bytes * others / ranks : bytes * others;
  switch (protocol) {
    case Protocol::automatic:
    case Protocol::line:
      return start;
    case Protocol::slots:
      return start + line_seconds + bytes / copy_rate + read / cached_rate + (combines ? read / combine_rate : 0);
    case Protocol::single_copy: {
      // The ranks share the work: each combines, or copies, its part and hands it on.
      const double work = signature.operation == Operation::allreduce   ? 2 * bytes * others / ranks
                          : signature.operation == Operation::reduce    ? bytes * others / ranks * 1.5
                          : signature.operation == Operation::allgather ? read
                          : is_split                                    ? read
                                                                        : bytes * others / ranks;
      const double calls = 2 * others * (1 + work / 65536);
      return start + line_seconds * ranks * 4 + calls * call_seconds + work / copy_rate;
    }
  }
  return start;
}

}  // namespace tutti::detail::shm
