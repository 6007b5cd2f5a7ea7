// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/neighbor_slots.hpp"

#include <limits>

#include "backends/shm/agreement.hpp"
#include "backends/shm/cell_use.hpp"
#include "core/hash.hpp"

namespace tutti::detail::shm {
namespace {

/// The payload of a line of a giver.
struct Notice {
  std::uint32_t taker;
  std::uint32_t place;  ///< of the blocks: an offset in the slot, or one of the following
  std::uint64_t bytes;
  std::uint64_t sizes;
  std::byte data[32];
};
static_assert(sizeof(Notice) <= line_bytes);
constexpr std::uint32_t in_line = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t in_messages = in_line - 1;

Notice& notice_of(Line& line) { return *reinterpret_cast<Notice*>(line.payload); }

std::uint64_t digest_of(flight::Call call, CallKind kind) {
  return mix_bits(0x6E65696768626FULL << 8U ^ static_cast<std::uint64_t>(call) << 2U ^
                  static_cast<std::uint64_t>(kind));
}

/// The k-th line in which a giver may have placed the notice for a rank. A prime keeps the neighbours of a grid, which
/// are often powers of two apart, from the same first line.
std::size_t line_for(int taker, std::size_t k) {
  constexpr std::size_t first_lines = 61;
  return (static_cast<std::size_t>(taker) % first_lines + k) % cell_lines;
}

}  // namespace

NeighborSlots::NeighborSlots(Context& context, flight::Call call, CallKind kind, std::chrono::nanoseconds timeout)
    : call_(call), kind_(kind) {
  use_.arena = &arena_of(context);
  const std::uint64_t digest = digest_of(call, kind);
  turn_ = kind == CallKind::persistent ? take_persistent_turn(context, digest, timeout) : arena().next_ordered(digest);
}

NeighborSlots::~NeighborSlots() {
  if (kind_ == CallKind::persistent && has_cells()) arena().give_back(turn_);
}

void NeighborSlots::begin() {
  used_ = 0;
  given_lines_ = 0;
  if (kind_ == CallKind::persistent)
    use_.use_persistent(turn_);
  else
    use_.use_ordered(turn_);
}

NeighborSlots::Room NeighborSlots::room_for(int taker, std::size_t bytes) {
  if (given_lines_ == cell_lines) return {};
  ++given_lines_;
  Cell& cell = use_.cell(arena().rank());
  std::size_t k = 0;
  while (cell.lines[line_for(taker, k)].flag.load(std::memory_order_relaxed) == use_.line_flag()) ++k;
  Line& line = cell.lines[line_for(taker, k)];
  if (bytes <= sizeof(Notice::data)) return {&line, notice_of(line).data, in_line};
  if (bytes > slot_bytes - used_ || !arena().try_prepare_slot(use_.number)) return {&line, nullptr, in_messages};
  const auto place = static_cast<std::uint32_t>(used_);
  used_ += combined_room(bytes);
  return {&line, arena().slot(arena().rank(), use_.number) + place, place};
}

void NeighborSlots::give(const Room& room, int taker, std::size_t bytes, std::uint64_t sizes) const {
  if (room.line == nullptr) return;
  Notice& notice = notice_of(*room.line);
  notice.taker = static_cast<std::uint32_t>(taker);
  notice.place = room.place;
  notice.bytes = bytes;
  notice.sizes = sizes;
  room.line->flag.store(use_.line_flag(), std::memory_order_release);
}

void NeighborSlots::publish() {
  Record& mine = use_.cell(arena().rank()).record;
  describe(mine);
  mine.generation.store(use_.generation, std::memory_order_release);
  arena().wake();
}

NeighborSlots::Given NeighborSlots::look(int giver, std::size_t& lines) const {
  const auto me = static_cast<std::uint32_t>(arena().rank());
  Cell& cell = use_.cell(giver);
  for (; lines < cell_lines; ++lines) {
    Line& line = cell.lines[line_for(arena().rank(), lines)];
    if (line.flag.load(std::memory_order_acquire) != use_.line_flag()) return {};
    const Notice& notice = notice_of(line);
    if (notice.taker != me) continue;
    if (notice.place == in_messages) return {Via::messages, notice.bytes, notice.sizes};
    const std::byte* slot = arena().slot(giver, use_.number);
    return {Via::memory, notice.bytes, notice.sizes, notice.place == in_line ? notice.data : slot + notice.place};
  }
  return {Via::messages};
}

void NeighborSlots::describe(Record& record) const {
  record.history = use_.history;
  record.digest = digest_of(call_, kind_);
  record.call = call_;
  record.kind = static_cast<std::uint8_t>(kind_);
  record.refused = false;
}

void NeighborSlots::check_giver(int giver, const std::function<std::string()>& who) const {
  Record mine{};
  describe(mine);
  check_agreement(use_, mine, giver, who);
}

}  // namespace tutti::detail::shm
