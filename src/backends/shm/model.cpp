// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/model.hpp"

#include <algorithm>
#include <limits>

#include "backends/shm/calibrate.hpp"
#include "backends/shm/chunks.hpp"
#include "backends/shm/layout.hpp"
#include "backends/shm/parts.hpp"
#include "backends/shm/pieces.hpp"
#include "backends/shm/registry.hpp"
#include "call/schedule_rules.hpp"

namespace tutti::detail::shm {
namespace {

/// The data beyond which a copy does not find its operands in a core's caches, in bytes.
constexpr double cached_bytes = 512.0 * 1024;

/// The bytes of a call as its busiest rank sees them.
struct Traffic {
  double others = 0;       ///< ranks beside this one
  double block = 0;        ///< one rank's data for another, bytes
  double given = 0;        ///< bytes that the busiest giver publishes
  double taken = 0;        ///< bytes that the busiest taker takes from others
  double own = 0;          ///< bytes that a rank which gives to itself copies
  double lost = 0;         ///< the part of the buffers that the last-level caches do not hold
  bool one_sided = false;  ///< the busiest giver and the busiest taker are different ranks
  bool combines = false;
  double combined = 0;       ///< operands that the busiest rank combines if each combines for itself, bytes
  double work_per_byte = 0;  ///< seconds a byte of operands
  bool is_narrow = false;    ///< floats of 8 or 16 bits
};

Traffic traffic_of(const Signature& signature, const Machine& machine) {
  const double ranks = machine.size;
  const Operation operation = signature.operation;
  const auto bytes = static_cast<double>(published_bytes(signature, machine.size));
  const bool is_split = tutti::is_split(operation);
  Traffic t;
  t.others = ranks - 1;
  t.block = is_split ? bytes / ranks : bytes;
  t.given = is_split ? bytes * t.others / ranks : bytes;
  t.taken = traits_of(operation).root == RootPart::gives ? t.block : t.block * t.others;
  t.one_sided = goes_one_way(operation);
  t.combines = tutti::combines(operation, machine.size);
  const bool gives_itself = has_own_block(operation, true);
  t.own = !combines(operation) && gives_itself ? t.block : 0;
  // A single contribution is copied.
  const double contributions = gives_itself ? ranks : t.others;
  t.combined = t.combines && contributions > 1 ? t.block * contributions : 0;
  t.lost = lost_part(signature, machine.size, machine.costs);
  t.is_narrow = is_small_float(signature.type.kind());
  t.work_per_byte = t.is_narrow ? machine.costs.combine_narrow : machine.costs.combine;
  return t;
}

/// What is added to a copy through the caches if its data lie beyond them.
double beyond_caches(double bytes, const Costs& costs) {
  return bytes > cached_bytes ? std::max(0.0, costs.far_copy - costs.copy) : 0;
}

/// Until a rank has seen the flags of all that it waits for.
double start_of(const Traffic& traffic, const Machine& machine) {
  const double turn = machine.oversubscribed ? machine.costs.turn : 0;
  return (machine.costs.line + turn) * std::max(1.0, traffic.others);
}

/// Until a core sees a further line of a run that another has written.
double next_line(const Costs& costs) { return static_cast<double>(cache_line) * costs.slot_read; }

double taking_lines(const Traffic& traffic, const Costs& costs) {
  const auto lines = static_cast<double>(lines_of(static_cast<std::size_t>(traffic.block)));
  const double givers = traffic.taken > 0 && traffic.block > 0 ? traffic.taken / traffic.block : 0;
  return next_line(costs) * (lines - 1) * givers + traffic.work_per_byte * traffic.combined;
}

/// The copy of a rank's own block.
double own_seconds(const Traffic& traffic, const Costs& costs) {
  return traffic.own * (costs.copy + beyond_caches(traffic.own, costs));
}

/// The chunks of a block that passes through memory of its giver.
struct Pipe {
  Pace write;
  Pace read;
  double chunks;        ///< of one block
  bool is_far = false;  ///< the paces are those of buffers beyond a core's caches
};

/// What each end of a copy adds that lies beyond the caches, in seconds a byte.
double beyond_at_one_end(double bytes, const Traffic& traffic, const Costs& costs, const Pipe& pipe) {
  const double near = pipe.is_far ? 0 : beyond_caches(bytes, costs);
  return (near + cold_seconds(costs.far_copy, traffic.lost, costs)) / 2;
}

/// The taker's part of piped_seconds. What it combines is read beside its own operand, and written; operands are
/// fetched while those before them are combined, unless they are converted first.
double taking_seconds(const Traffic& traffic, const Costs& costs, const Pipe& pipe, double chunks) {
  const double buffers = traffic.combined > 0 ? 2 * traffic.block : traffic.taken;
  const double fetch =
      pipe.read.seconds(traffic.taken, chunks) + buffers * beyond_at_one_end(traffic.taken, traffic, costs, pipe);
  const double work = traffic.work_per_byte * traffic.combined;
  return traffic.is_narrow ? fetch + work : std::max(fetch, work);
}

/// One way, giver and taker work at the same time.
double one_way_seconds(const Traffic& traffic, double write, double read, double own) {
  const bool gathers = traffic.taken > traffic.given;
  return gathers ? std::max(write, read + own) : std::max(write + own, read);
}

/// The seconds in which a giver writes a block to its slot or ring and a taker reads it. Both work on a large block at
/// the same time, chunk by chunk. Each chunk also moves the cache line of the flag, which costs half a line on average,
/// because it often arrives early.
double piped_seconds(const Traffic& traffic, const Costs& costs, const Pipe& pipe) {
  const double blocks = traffic.block > 0 ? pipe.chunks / traffic.block : 0;
  const double write = pipe.write.seconds(traffic.given, traffic.given * blocks) +
                       traffic.given * beyond_at_one_end(traffic.given, traffic, costs, pipe);
  const double read = taking_seconds(traffic, costs, pipe, traffic.taken * blocks);
  const double own = own_seconds(traffic, costs);
  const double first = traffic.taken > 0 ? costs.line : 0;
  const double flags = costs.line / 2 * (pipe.chunks - 1);
  if (!traffic.one_sided) return first + write + read + own + flags / 2;
  return first + one_way_seconds(traffic, write, read, own) + std::min(write, read) / pipe.chunks + flags;
}

double through_slots(const Traffic& traffic, const Costs& costs) {
  const double chunks = std::max(1.0, traffic.block / static_cast<double>(short_piece));
  return piped_seconds(traffic, costs, {writing_pace(costs), reading_pace(costs), chunks});
}

double through_rings(Protocol protocol, const Signature& signature, const Traffic& traffic, const Machine& machine) {
  const Costs& costs = machine.costs;
  const RingKind kind = protocol == Protocol::wide ? RingKind::wide : RingKind::near;
  const RingCut cut = cut_for(kind, signature.operation, static_cast<std::size_t>(traffic.block), machine.size, 1);
  const auto chunks = static_cast<double>(cut.chunks);
  const Pace write = writing_pace(costs);
  const Pace read = reading_pace(costs);
  if (protocol == Protocol::stream) return piped_seconds(traffic, costs, {write, read, chunks});
  if (protocol == Protocol::wide)
    return piped_seconds(traffic, costs,
                         {further(write, costs.wide_write), further(read, costs.wide_read), chunks, true});
  // Lines that are past the caches have nobody who fetches them ahead, however short the chunk.
  constexpr double never = std::numeric_limits<double>::infinity();
  const double start = costs.uncached_start / 2;
  return piped_seconds(traffic, costs,
                       {{start, costs.uncached_write, never}, {start, costs.uncached_read, never}, chunks});
}

/// A kernel copy of that many bytes, in calls of at most `piece` bytes.
struct Kernel {
  double call;
  double byte;
  double far_byte;  ///< of buffers beyond a core's caches
  /// buffer: the size of the buffers that the copies belong to, in bytes.
  [[nodiscard]] double seconds(double calls, double bytes, double buffer) const {
    return calls * call + bytes * (buffer > cached_bytes ? far_byte : byte);
  }
};

double far_byte_of(double warm, const Traffic& traffic, const Costs& costs) {
  return warm + cold_seconds(warm, traffic.lost, costs);
}

Kernel lone_kernel(const Traffic& traffic, const Costs& costs) {
  return {costs.kernel_call, costs.kernel_byte, far_byte_of(costs.kernel_far_byte, traffic, costs)};
}
Kernel busy_kernel(const Traffic& traffic, const Costs& costs) {
  return {costs.kernel_busy_call, costs.kernel_busy_byte, far_byte_of(costs.kernel_busy_far_byte, traffic, costs)};
}

/// One rank gives to others or takes from them. A block in one piece is the taker's; else both sides make half of the
/// pieces.
double one_sided_copies(const Signature& signature, const Traffic& traffic, const Costs& costs) {
  const auto block = static_cast<std::size_t>(traffic.block);
  const std::size_t piece = moved_piece(signature.operation, block);
  const double pieces = std::max<double>(1, static_cast<double>(ceil_div(block, piece)));
  const bool gathers = traffic.taken > traffic.block;
  if (pieces == 1 && traffic.others == 1) return lone_kernel(traffic, costs).seconds(1, traffic.block, traffic.block);
  if (pieces == 1)
    return busy_kernel(traffic, costs).seconds(gathers ? traffic.others : 1, traffic.taken, traffic.taken);
  // The root and the others share the blocks: with many ranks each of the others does nearly all of its own.
  const double share = traffic.others / (traffic.others + 1);
  const double bytes = traffic.others == 1 ? traffic.block / 2 : traffic.block * share;
  return busy_kernel(traffic, costs).seconds(std::max(1.0, pieces * bytes / traffic.block), bytes, traffic.block);
}

/// Returns true if the root of a short reduction makes its only piece.
bool is_left_to_root(const Signature& signature, const Traffic& traffic) {
  return signature.operation == Operation::reduce && traffic.block <= static_cast<double>(root_alone_bytes);
}

/// Every rank reads its share of all operands, combines it, and hands the result on.
double shared_reduction(const Signature& signature, const Traffic& traffic, const Machine& machine) {
  const double ranks = machine.size;
  const bool is_split = tutti::is_split(signature.operation);
  const auto unit = signature.type.size();
  const double share = is_split ? traffic.block : traffic.block / ranks;
  const bool root_alone = is_left_to_root(signature, traffic);
  const Kernel busy = busy_kernel(traffic, machine.costs);
  const double work = traffic.work_per_byte * traffic.combined;
  if (root_alone || is_made_by_each(signature, machine.size, machine.mapped_copy)) {
    const Kernel kernel = root_alone ? lone_kernel(traffic, machine.costs) : busy;
    return kernel.seconds(traffic.others, traffic.taken, traffic.taken) + work;
  }
  const double piece = static_cast<double>(combined_piece_bytes(machine.size) + unit);
  const double pieces = std::max(1.0, share / piece);
  const bool is_exscan = signature.operation == Operation::exscan;
  const bool is_prefix = tutti::is_prefix(signature.operation);
  const double returned = is_split ? 0 : signature.operation == Operation::reduce ? 0.5 : traffic.others;
  // The first prefix is a copy.
  const double prefixes = is_exscan ? std::max(0.0, ranks * (ranks - 1) / 2 - 1) : ranks * (ranks + 1) / 2 - 1;
  const double combined = share * (is_prefix ? prefixes : ranks);
  const double copies = traffic.others + returned;
  // The prefixes of others are made in memory of this rank's own before they are copied.
  const double made =
      is_prefix ? share * (traffic.others * machine.costs.copy + ranks * beyond_caches(traffic.block, machine.costs))
                : 0;
  return made + busy.seconds(pieces * copies, share * copies, traffic.block) + traffic.work_per_byte * combined;
}

/// Returns true if no rank claims pieces, because each piece has one rank that makes it.
bool is_unclaimed(const Signature& signature, const Traffic& traffic, const Machine& machine) {
  if (signature.kind != CallKind::blocking) return false;
  const auto block = static_cast<std::size_t>(traffic.block);
  if (!traffic.combines) return block <= moved_piece(signature.operation, block);
  if (signature.operation == Operation::reduce) return is_left_to_root(signature, traffic);
  if (tutti::is_split(signature.operation))
    return !machine.oversubscribed && block <= combined_piece_bytes(machine.size);
  return is_made_by_each(signature, machine.size, machine.mapped_copy);
}

/// The lines that change hands: where a buffer is, and the end of its reading; else also claims of pieces; to combine,
/// also the claim of a piece that is already taken, and the ends of all ranges, unless the root makes the only piece.
double told_lines(const Signature& signature, const Traffic& traffic, const Machine& machine) {
  if (is_unclaimed(signature, traffic, machine)) return 2;
  return traffic.combines && !is_left_to_root(signature, traffic) ? 8 : 4;
}

double by_single_copies(const Signature& signature, const Traffic& traffic, const Machine& machine) {
  const Costs& costs = machine.costs;
  const double told = told_lines(signature, traffic, machine) * costs.line;
  if (traffic.combines) return told + shared_reduction(signature, traffic, machine);
  const double own = own_seconds(traffic, costs);
  // While the root copies its own block, the others do more of the pieces.
  if (traffic.one_sided) return told + one_sided_copies(signature, traffic, costs) + own / (traffic.others + 1);
  const double calls = traffic.others * std::max(1.0, traffic.block / static_cast<double>(256 * page));
  return told + own + busy_kernel(traffic, costs).seconds(calls, traffic.taken, traffic.taken);
}

/// Every rank copies the other parts into its buffer, combines its own there, and copies what it gets out of all
/// buffers, past the caches if they cannot hold it. Three flags change hands at every window.
double through_parts(const Signature& signature, const Traffic& traffic, const Machine& machine) {
  const Costs& costs = machine.costs;
  const std::size_t share = Parts::share_of(signature.type.size(), machine.size);
  if (share == 0) return std::numeric_limits<double>::infinity();
  const double ranks = machine.size;
  const double own = traffic.block / ranks;
  const double others = own * traffic.others;
  const double far = beyond_caches(traffic.block, costs);
  const double windows = std::max(1.0, traffic.block / (static_cast<double>(share) * ranks));
  const double turns = machine.oversubscribed ? machine.costs.turn * traffic.others : 0;
  const Pace write = writing_pace(costs);
  const Pace read = reading_pace(costs);
  const double chunks = windows * traffic.others;
  const double given = write.seconds(others, chunks) + others * far / 2;
  const double combined = read.seconds(others, chunks) + traffic.work_per_byte * traffic.block +
                          write.seconds(own, windows) + own * far / 2;
  const double taken = read.seconds(others, chunks) + others * far / 2 + own * (costs.copy + far);
  return given + combined + taken + windows * (3 * costs.line * traffic.others + turns);
}

/// All ranks have told their sizes, and those who give have written their blocks by then. One way, the giver writes
/// those of its next call while the taker reads these: calls follow one another as fast as the slower of both.
double one_chunk_seconds(const Traffic& traffic, const Costs& costs) {
  const double blocks = traffic.block > 0 ? 1 / traffic.block : 0;
  const double write = writing_pace(costs).seconds(traffic.given, traffic.given * blocks);
  const double read = reading_pace(costs).seconds(traffic.taken, traffic.taken * blocks);
  const double own = own_seconds(traffic, costs);
  return costs.line + (traffic.one_sided ? one_way_seconds(traffic, write, read, own) : write + read + own);
}

}  // namespace

std::size_t longest_in_slot(const Signature& signature, const Machine& machine) {
  Signature equal = signature;
  equal.operation = with_equal_blocks(signature.operation);
  equal.type = DatatypeOf<std::byte>::value;
  std::size_t shorter = 0;  // in lines: its blocks take slots, those of `longer` lines do not
  std::size_t longer = slot_bytes / cache_line + 1;
  while (longer - shorter > 1) {
    equal.count = (shorter + longer) / 2 * cache_line;
    const Traffic traffic = traffic_of(equal, machine);
    const bool takes_slot =
        one_chunk_seconds(traffic, machine.costs) <= by_single_copies(equal, traffic, machine) + machine.costs.line;
    (takes_slot ? shorter : longer) = equal.count / cache_line;
  }
  return shorter * cache_line;
}

double start_seconds(const Signature& signature, const Machine& machine) {
  return start_of(traffic_of(signature, machine), machine);
}

double line_seconds(const Signature& signature, const Machine& machine) {
  const Traffic traffic = traffic_of(signature, machine);
  return start_of(traffic, machine) + taking_lines(traffic, machine.costs);
}

double slot_seconds(const Signature& signature, const Machine& machine) {
  const Traffic traffic = traffic_of(signature, machine);
  return start_of(traffic, machine) + through_slots(traffic, machine.costs);
}

double single_copy_seconds(const Signature& signature, const Machine& machine) {
  const Traffic traffic = traffic_of(signature, machine);
  return start_of(traffic, machine) + by_single_copies(signature, traffic, machine);
}

double part_seconds(const Signature& signature, const Machine& machine) {
  const Traffic traffic = traffic_of(signature, machine);
  return start_of(traffic, machine) + through_parts(signature, traffic, machine);
}

double ring_seconds(Protocol protocol, const Signature& signature, const Machine& machine) {
  const Traffic traffic = traffic_of(signature, machine);
  return start_of(traffic, machine) + through_rings(protocol, signature, traffic, machine);
}

double unplaced_tree_seconds(const Signature& signature, const Machine& machine) {
  return predict_tree(signature, unplaced_shape(machine.size), machine);
}

double predict_tree(const Signature& signature, const TreeShape& shape, const Machine& machine) {
  return tree_seconds(signature, shape,
                      {machine.costs.line, next_line(machine.costs), machine.oversubscribed ? machine.costs.turn : 0});
}

}  // namespace tutti::detail::shm
