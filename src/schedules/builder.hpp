// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include "schedules/blocks.hpp"
#include "schedules/schedule.hpp"

namespace tutti::schedules {

[[nodiscard]] constexpr Slice input(std::size_t offset, std::size_t count) {
  return {BufferName::input, offset, count};
}
[[nodiscard]] constexpr Slice output(std::size_t offset, std::size_t count) {
  return {BufferName::output, offset, count};
}
[[nodiscard]] constexpr Slice scratch(std::size_t offset, std::size_t count) {
  return {BufferName::scratch, offset, count};
}
[[nodiscard]] constexpr Slice input(const Block& block) { return input(block.offset, block.count); }
[[nodiscard]] constexpr Slice output(const Block& block) { return output(block.offset, block.count); }
/// Elements [first, first + count) of a slice.
[[nodiscard]] constexpr Slice part_of(const Slice& slice, std::size_t first, std::size_t count) {
  return {slice.buffer, slice.offset + first, count};
}
[[nodiscard]] constexpr Slice part_of(const Slice& slice, const Block& block) {
  return part_of(slice, block.offset, block.count);
}

/// Puts a schedule together round by round, leaving out empty transfers and steps.
class Builder {
 public:
  void send(int peer, const Slice& slice) {
    if (slice.count > 0) round_.transfers.push_back({Transfer::Kind::send, peer, slice});
  }
  void recv(int peer, const Slice& slice) {
    if (slice.count > 0) round_.transfers.push_back({Transfer::Kind::recv, peer, slice});
  }
  /// Adds the empty messages of a barrier.
  void send_signal(int peer) { round_.transfers.push_back({Transfer::Kind::send, peer, output(0, 0)}); }
  void recv_signal(int peer) { round_.transfers.push_back({Transfer::Kind::recv, peer, output(0, 0)}); }

  /// Adds a transfer of another schedule, even an empty one.
  void transfer(const Transfer& transfer) { round_.transfers.push_back(transfer); }

  void copy(const Slice& from, const Slice& to) {
    if (to.count > 0 && from != to) round_.locals.push_back({Local::Kind::copy, {from}, to});
  }
  void reduce(std::vector<Slice> inputs, const Slice& to) {
    if (inputs.size() == 1)
      copy(inputs.front(), to);
    else if (to.count > 0)
      round_.locals.push_back({Local::Kind::reduce, std::move(inputs), to});
  }

  /// Adds an exchange on the node to the round, and ends it.
  void exchange(Exchange&& exchange) {
    round_.exchange = std::move(exchange);
    end_round();
  }

  void end_round() {
    if (!round_.transfers.empty() || round_.exchange || !round_.locals.empty())
      schedule_.rounds.push_back(std::exchange(round_, {}));
  }
  [[nodiscard]] Schedule finish(std::size_t scratch_count, bool alias_safe) {
    end_round();
    schedule_.scratch_count = scratch_count;
    schedule_.alias_safe = alias_safe;
    return std::move(schedule_);
  }

 private:
  Schedule schedule_;
  Round round_;
};

}  // namespace tutti::schedules
