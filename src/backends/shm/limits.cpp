// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/registry.hpp"

#include <algorithm>

#include "backends/shm/chunks.hpp"
#include "backends/shm/layout.hpp"
#include "backends/shm/parts.hpp"
#include "call/schedule_rules.hpp"

namespace tutti::detail::shm {
namespace {

/// The number of blocks of `count` elements that the rank with most data publishes.
std::size_t blocks_published(Operation operation, int size) {
  if (operation == Operation::barrier) return 0;
  return tutti::is_split(operation) && operation != Operation::reduce_scatter ? static_cast<std::size_t>(size) : 1;
}

std::size_t slot_share(const Signature& signature, int size) {
  if (!tutti::is_split(signature.operation)) return slot_bytes;
  return slot_bytes / static_cast<std::size_t>(size) / cache_line * cache_line;
}

/// The size of one chunk of a block that does not fit, in whole lines.
std::size_t half_share(const Signature& signature, int size) {
  return slot_share(signature, size) / 2 / cache_line * cache_line;
}

/// Returns true if a flag can count the chunks of the longest block.
bool can_count_chunks(const Signature& signature, int size) {
  const std::size_t shortest = std::min<std::size_t>(half_share(signature, size), 2048);
  return signature.count * signature.type.size() / shortest < most_chunks;
}

/// A rank makes no other call on its rings before this one is over.
bool comes_alone(const Signature& signature) { return signature.kind == CallKind::blocking && !signature.is_piece; }

}  // namespace

std::size_t published_bytes(const Signature& signature, int size) {
  if (tutti::is_varying(signature.operation)) return 0;
  return signature.count * signature.type.size() * blocks_published(signature.operation, size);
}

bool fits_lines(const Signature& signature, int size) {
  if (tutti::is_varying(signature.operation)) return false;
  const std::size_t block = signature.count * signature.type.size();
  const auto ranks = static_cast<std::size_t>(size);
  if (block > cell_lines / 2 * line_bytes) return false;
  if (lines_of(block) * (tutti::is_split(signature.operation) ? ranks : 1) > cell_lines) return false;
  if (!combines(signature.operation)) return true;
  return block <= most_combined_block && ranks * cache_line <= most_combined_bytes &&
         (ranks - 1) * combined_room(block) <= most_combined_bytes;
}

bool fits_slots(const Signature& signature, int size, bool goes_on_alone) {
  if (tutti::is_varying(signature.operation)) return false;
  if (combines(signature.operation) && signature.type.size() > half_share(signature, size)) return false;
  return published_bytes(signature, size) <= slot_bytes || (!goes_on_alone && can_count_chunks(signature, size));
}

/// A leader combines what a group has given before it knows the rest, and it must be there until the call ends.
bool fits_tree(const Signature& signature, bool goes_on_alone) {
  if (goes_on_alone) return false;
  const std::size_t block = signature.count * signature.type.size();
  switch (signature.operation) {
    case Operation::barrier:
      return true;
    case Operation::bcast:
      return lines_of(block) <= cell_lines / 2;
    case Operation::reduce:
    case Operation::allreduce:
      return block <= most_combined_block && signature.commutative && !needs_single_combine(signature);
    default:
      return false;
  }
}

/// The windows must be few enough to be counted, and all ranks there to combine their parts.
bool fits_parts(const Signature& signature, int size) {
  const bool is_vector = signature.operation == Operation::reduce || signature.operation == Operation::allreduce;
  if (!is_vector || !comes_alone(signature)) return false;
  const std::size_t share = Parts::share_of(signature.type.size(), size);
  return share > 0 && signature.count * signature.type.size() / share < most_chunks;
}

/// A giver waits for its takers while it fills its ring again and again.
bool fits_ring(const Signature& signature, int size) {
  if (!comes_alone(signature) || signature.operation == Operation::barrier) return false;
  if (tutti::is_varying(signature.operation)) return false;
  const std::size_t most = most_of_ring(RingKind::near, signature.operation, size);
  if (combines(signature.operation) && signature.type.size() > longest_chunk(signature.operation, most)) return false;
  const std::size_t block = signature.count * signature.type.size();
  return block / chunk_of(signature.operation, block, most) < most_chunks;
}

/// A near ring also serves where there is no room for a wide one.
bool is_held_by_ring(const Signature& signature, int size) {
  const std::size_t block = signature.count * signature.type.size();
  const RingCut cut = cut_for(RingKind::near, signature.operation, block, size, signature.type.size());
  return cut.places == cut.chunks;
}

}  // namespace tutti::detail::shm
