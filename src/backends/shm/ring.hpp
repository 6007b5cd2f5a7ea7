// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tutti::detail::shm {

/// A rank's bookkeeping of one of its rings: each call takes the memory behind that of the call before, and from the
/// begin again where the rest is too short.
class Ring {
 public:
  struct Room {
    std::size_t offset = 0;    ///< in the ring, bytes
    std::uint64_t before = 0;  ///< all ranks must have finished the calls before this turn
  };

  explicit constexpr Ring(std::size_t bytes) : bytes_(bytes) {}

  /// turn: of the call, greater than that of the one before. bytes: at most all of the ring.
  [[nodiscard]] constexpr Room take(std::uint64_t turn, std::size_t bytes) noexcept {
    std::uint64_t begin = head_;
    if (begin % bytes_ + bytes > bytes_) begin += bytes_ - begin % bytes_;
    head_ = begin + bytes;
    // Positions count on without end, so a place meets those that lie further back than the ring is long.
    while (first_ < next_ && (record(first_).begin + bytes_ < head_ || next_ - first_ == records_.size()))
      before_ = record(first_++).turn + 1;
    record(next_++) = {turn, begin};
    return {static_cast<std::size_t>(begin % bytes_), before_};
  }

 private:
  struct Record {
    std::uint64_t turn = 0;
    std::uint64_t begin = 0;
  };
  [[nodiscard]] constexpr Record& record(std::uint64_t index) noexcept { return records_[index % records_.size()]; }

  std::size_t bytes_;
  std::uint64_t head_ = 0;
  std::uint64_t before_ = 0;
  std::array<Record, 64> records_{};  ///< the latest ones; older ones must be over
  std::uint64_t first_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace tutti::detail::shm
