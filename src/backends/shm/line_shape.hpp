// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backends/shm/exchange.hpp"
#include "backends/shm/line_run.hpp"

namespace tutti::detail::shm {

/// What one rank gives and takes in a call by lines, as it follows from the arguments.
class LineShape {
 public:
  LineShape() = default;
  /// largest: the size of the largest block that any rank gives, in bytes.
  LineShape(const Signature& signature, const Shape& who, std::size_t largest, bool oversubscribed);

  /// Writes this rank's blocks to its lines.
  void give(const Exchange& exchange) const;
  /// Where a rank looks for the lines of others: the giver before which all have come, and its lines that have.
  struct Cursor {
    int from = 0;
    std::size_t line = 0;
  };
  [[nodiscard]] Cursor first() const { return {givers_.begin, 0}; }
  /// Goes on from a cursor as far as lines have come. Returns true once all have.
  [[nodiscard]] bool have_come(const Exchange& exchange, Cursor& cursor, int looks) const {
    const std::uint64_t flag = exchange.line_flag();
    for (; cursor.from < givers_.end; ++cursor.from, cursor.line = 0)
      if (cursor.from != rank_ && !have_arrived(from(exchange, cursor.from), flag, lines_, cursor.line, looks))
        return false;
    return true;
  }
  /// Copies or combines the blocks of the others and this rank's own.
  void take(const Exchange& exchange) const;
  /// Returns true if other ranks read what this one writes.
  [[nodiscard]] bool gives() const { return takers_.begin < takers_.end; }
  /// Returns true if this rank, once it has taken, has heard of all others.
  [[nodiscard]] bool hears_all(int size) const { return givers_.begin == 0 && givers_.end == size; }
  /// Returns true if this rank gives only after it has heard of all others.
  [[nodiscard]] bool waits_first() const { return waits_first_; }

 private:
  struct Ranks {
    int begin = 0;
    int end = 0;
  };

  void find_partners(const Shape& who, bool meets_at_first);
  [[nodiscard]] const Line* from(const Exchange& exchange, int giver) const {
    return exchange.cell(giver).lines + static_cast<std::size_t>(rank_) * stride_;
  }
  void give_each(const Exchange& exchange, Line* lines) const;
  void copy_own(const Exchange& exchange) const;
  void combine(const Exchange& exchange) const;
  /// Combines blocks of several lines, which it copies first.
  void combine_copies(const Exchange& exchange, std::span<const void*> inputs) const;

  int rank_ = 0;
  Ranks givers_{};  ///< perhaps with this rank among them
  Ranks takers_{};
  std::size_t bytes_ = 0;      ///< of the block that this rank takes from each giver
  std::size_t lines_ = 1;      ///< the same in lines
  std::size_t stride_ = 0;     ///< lines from one taker's block to the next; 0: all take the same block
  std::size_t apart_ = 0;      ///< bytes from one giver's block to the next in the output
  std::size_t own_given_ = 0;  ///< place of the block that this rank gives itself in its input, in bytes
  bool has_own_ = false;       ///< there is one
  bool combines_ = false;
  bool moves_ = true;  ///< this rank takes data
  bool waits_first_ = false;
};

/// The shape of the calls of a plan, where it follows from their signature.
struct LinePlan final : BackendPlan {
  explicit LinePlan(const LineShape& of_calls) : shape(of_calls) {}
  LineShape shape;
};
/// Null if the counts of each call say more.
[[nodiscard]] std::shared_ptr<const LinePlan> line_plan(const Signature& signature, int rank, int size,
                                                        bool oversubscribed);

}  // namespace tutti::detail::shm
