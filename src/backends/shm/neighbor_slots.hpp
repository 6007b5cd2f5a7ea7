// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "backends/shm/cell_use.hpp"
#include "call/context.hpp"
#include "operation/call_record.hpp"
#include "operation/signature.hpp"

namespace tutti::detail::shm {

/// A neighborhood collective through the slots of its ranks: the blocks for one neighbour lie one behind another in a
/// line that tells of them, if they are short, or else in the giver's slot. Blocks for which the slot has no room go by
/// messages, which the line tells too. Only the ends of an edge wait for each other: the giver chooses, and the taker
/// reads the choice. Blocks that fit no slot are known to go by messages at both ends before a line tells of them.
class NeighborSlots {
 public:
  /// Takes its place in the order of calls. A persistent call keeps its cells as long as this object lives. Collective.
  NeighborSlots(Context& context, flight::Call call, CallKind kind, std::chrono::nanoseconds timeout);
  ~NeighborSlots();
  NeighborSlots(const NeighborSlots&) = delete;
  NeighborSlots& operator=(const NeighborSlots&) = delete;

  /// Returns false, on all ranks, for a persistent call for which no cells are left.
  [[nodiscard]] bool has_cells() const { return turn_.valid(); }

  /// False: no slot has room for so many bytes. Both ends of an edge know it, and need not ask.
  [[nodiscard]] static constexpr bool fits(std::size_t bytes) { return bytes <= slot_bytes; }

  /// For each start.
  void begin();
  /// Returns true once the cell has no data of earlier calls.
  [[nodiscard]] bool is_free() const { return use_.is_free(); }

  /// The blocks for one neighbour: where they are written, or null if they go by messages.
  struct Room {
    Line* line = nullptr;
    std::byte* at = nullptr;
    std::uint32_t place = 0;
  };
  [[nodiscard]] Room room_for(int taker, std::size_t bytes);
  /// Hands it over. sizes: a digest of the sizes of its blocks.
  void give(const Room& room, int taker, std::size_t bytes, std::uint64_t sizes) const;
  /// After the last one.
  void publish();

  enum class Via : std::uint8_t { none_yet, memory, messages };
  struct Given {
    Via via = Via::none_yet;
    std::size_t bytes = 0;
    std::uint64_t sizes = 0;
    const std::byte* at = nullptr;  ///< of Via::memory
  };
  /// What a rank gives to this one. lines: of the giver that this rank has seen, at first 0.
  [[nodiscard]] Given look(int giver, std::size_t& lines) const;

  /// This rank has taken all that it takes.
  void finish() const { use_.finish(); }

  /// For a rank that waits for another: throws if that makes another call.
  void check_giver(int giver, const std::function<std::string()>& who) const;
  [[nodiscard]] Arena& arena() const { return *use_.arena; }

 private:
  void describe(Record& record) const;

  flight::Call call_;
  CallKind kind_;
  Turn turn_{};
  CellUse use_{};
  std::size_t used_ = 0;  ///< of the slot, bytes
  std::size_t given_lines_ = 0;
};

}  // namespace tutti::detail::shm
