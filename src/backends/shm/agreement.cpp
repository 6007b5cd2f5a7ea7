// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tutti/datatype.hpp>
#include <tutti/error.hpp>

#include "backends/shm/exchange.hpp"
#include "operation/call_record.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail::shm {
namespace {

/// A rank's record of a call, if it is still that of a generation; other ranks may begin to write the next one.
bool read_record(const CellUse& use, int rank, int number, Generation generation, Record& copy) {
  const Record& record = use.arena->cell(rank, number).record;
  if (record.generation.load(std::memory_order_acquire) != generation) return false;
  copy.history = record.history;
  copy.digest = record.digest;
  copy.count = record.count;
  copy.unit = record.unit;
  copy.root = record.root;
  copy.call = record.call;
  copy.kind = record.kind;
  copy.type = record.type;
  copy.op = record.op;
  copy.protocol = record.protocol;
  copy.refused = record.refused;
  std::atomic_thread_fence(std::memory_order_acquire);
  return record.generation.load(std::memory_order_relaxed) == generation;
}

/// "calls reduce(float32, count 8, sum, root 1) (shm:line)".
std::string words(const Record& record) {
  if (record.refused) return fmt::format("has refused its {} with an error", flight::call_name(record.call));
  CallRecord call;
  call.facts.call = record.call;
  call.facts.count = record.count;
  call.facts.unit = record.unit;
  call.facts.root = record.root;
  call.facts.kind = static_cast<CallKind>(record.kind);
  call.facts.type = record.type;
  call.facts.op = static_cast<ReduceKind>(record.op);
  const std::string text = "calls " + call_words(call);
  if (!flight::is_operation(record.call)) return text;
  return fmt::format("{} (shm:{})", text, protocol_name(static_cast<Protocol>(record.protocol)));
}

[[noreturn]] void throw_mismatch(const std::string& who, const std::string& difference) {
  throw Error(ErrorCode::mismatch,
              fmt::format("{}: {}; let all ranks make the same calls in the same order", who, difference));
}

/// Both sides of a call: "rank 0 calls barrier() (shm:line), rank 1 has refused its bcast with an error".
std::string both_sides(int me, const Record& mine, int rank, const Record& theirs) {
  const bool is_alike = words(mine) == words(theirs);
  return fmt::format("rank {} {}, rank {} {}{}", me, words(mine), rank, words(theirs),
                     is_alike ? ", with other counts of the blocks" : "");
}

/// Both sides of the first call before this one that differs, if its records are left; else an empty text.
std::string earlier_difference(const CellUse& use, int rank) {
  const int me = use.arena->rank();
  Record mine{};
  Record theirs{};
  for (int number = ordered_cells; number < all_cells; ++number) {
    if (!use.arena->has_cell(number)) continue;
    const Generation start = use.arena->cell(me, number).record.generation.load(std::memory_order_relaxed);
    if (start == 0 || number == use.number || !read_record(use, me, number, start, mine)) continue;
    if (!read_record(use, rank, number, start, theirs) || mine.digest == theirs.digest) continue;
    return fmt::format("at an earlier start of a persistent call, {}", both_sides(me, mine, rank, theirs));
  }
  if (use.number >= ordered_cells) return {};
  for (Generation ago = std::min<Generation>(ordered_cells, use.generation) - 1; ago > 0; --ago) {
    const Generation then = use.generation - ago;
    const int number = static_cast<int>((then - 1) % ordered_cells);
    if (!read_record(use, me, number, then, mine) || !read_record(use, rank, number, then, theirs)) continue;
    if (mine.digest == theirs.digest) continue;
    return fmt::format("{} call{} before this one, {}", ago, ago == 1 ? "" : "s", both_sides(me, mine, rank, theirs));
  }
  return {};
}

std::string difference(const CellUse& use, const Record& mine, int rank, const Record& theirs) {
  std::string earlier = earlier_difference(use, rank);
  if (!earlier.empty()) return earlier;
  const int me = use.arena->rank();
  if (mine.digest != theirs.digest) return both_sides(me, mine, rank, theirs);
  return fmt::format("rank {} {} as rank {} does, but an earlier call of theirs differed, or one of them refused it",
                     me, words(mine), rank);
}

}  // namespace

void check_agreement(const CellUse& use, const Record& mine, int rank, const std::function<std::string()>& who) {
  const Arena& arena = *use.arena;
  if (rank == arena.rank()) return;
  Record theirs{};
  const bool is_past =
      use.number < ordered_cells && arena.control(rank).completed.load(std::memory_order_acquire) >= use.generation;
  if (read_record(use, rank, use.number, use.generation, theirs)) {
    if (theirs.history != use.history) throw_mismatch(who(), difference(use, mine, rank, theirs));
  } else if (is_past && use.cell(rank).record.generation.load(std::memory_order_acquire) <= use.generation) {
    // One that is past a later call of this cell has left no record of this one.
    throw_mismatch(who(), fmt::format("rank {} has refused this call with an error", rank));
  }
}

void throw_sizes_differ(const Exchange& exchange, int from, int to, std::size_t given, std::size_t taken) {
  throw Error(ErrorCode::mismatch,
              fmt::format("{}: rank {} sends rank {} {} bytes, but that rank expects {}; make their counts equal",
                          operation_name(exchange.plan->signature.operation), from, to, given, taken));
}

void check_sizes(const Exchange& exchange, int from, int to) {
  const std::uint64_t given = exchange.arena->pair(to, from, exchange.number).give_bytes;
  const std::uint64_t taken = exchange.arena->pair(from, to, exchange.number).take_bytes;
  if (given != taken) throw_sizes_differ(exchange, from, to, given, taken);
}

}  // namespace tutti::detail::shm
