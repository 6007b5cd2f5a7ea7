// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/shm/groups.hpp"
#include "backends/shm/layout.hpp"
#include "call/commons.hpp"
#include "call/segment.hpp"

namespace tutti::detail::shm {

/// The place of one arena in a segment.
struct Plot {
  std::shared_ptr<Segment> segment{};
  std::size_t begin = 0;  ///< of the arena, in bytes
  std::uint32_t id = 0;   ///< of the segment
  int index = 0;          ///< of the arena in the segment
  bool is_warm = false;   ///< its early pages are reserved

  /// False if this rank could not map the segment.
  [[nodiscard]] bool valid() const noexcept { return segment != nullptr && segment->valid(); }
  [[nodiscard]] std::byte* data() const noexcept { return segment->data() + begin; }
  [[nodiscard]] Head& head() const noexcept { return *reinterpret_cast<Head*>(data()); }
  /// The head of the segment's first arena.
  [[nodiscard]] Head& segment_head() const noexcept { return *reinterpret_cast<Head*>(segment->data()); }
};

/// This rank's view of the segments of some processes on one node. An arena that all ranks have left is free for
/// another communicator of the same processes; rank 0 chooses it. Each new segment has as many arenas as all before it,
/// so that a program with one communicator takes no more than that needs. Any thread.
class ArenaPool final : public Commons {
 public:
  explicit ArenaPool(int size) : layout_(size), size_(size) {}

  std::uint64_t set_aside() noexcept override;
  void put_back(std::uint64_t lot) noexcept override;
  void give_up(std::uint64_t lot, int rank) noexcept override;

  /// On rank 0: makes a segment for a new communicator, which has its first arena. Invalid, with the problem in words,
  /// if there is no room. Its other arenas are free once open() is called.
  [[nodiscard]] Plot make_segment(SegmentName& name, std::string& problem);
  void open(const Plot& plot) noexcept;
  /// On other ranks: maps a segment that rank 0 has made.
  [[nodiscard]] Plot map_segment(const std::string& name, std::uint32_t id, std::size_t bytes, std::string& problem);
  /// Forgets a segment, which lives on while an arena of it is used.
  void forget(std::uint32_t id) noexcept;
  [[nodiscard]] Plot plot_of(std::uint64_t lot) const noexcept;

  /// Ends the use of an arena by this rank. The last one to leave makes it free, with zeroed memory except the heads,
  /// control lines and cells for calls in order, which each rank clears itself.
  void leave(const Plot& plot, int rank) noexcept;
  /// Reserves pages of an arena beyond the early ones.
  [[nodiscard]] static bool reserve(const Plot& plot, Layout::Pages pages, std::string& problem);
  /// The same for pages that are only of use: returns false if not much room would be left.
  [[nodiscard]] bool try_reserve_spare(const Plot& plot, Layout::Pages pages) const noexcept;

  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }

  /// What the first arena has found out about its processes, for all later ones. Written before another rank or thread
  /// can find the pool.
  struct Findings {
    bool single_copy = false;
    bool mapped_copy = false;
    /// Process and XPMEM segment of each rank. The pool outlives communicators, so it keeps no permit.
    std::vector<std::pair<pid_t, std::int64_t>> memories{};
    std::string report{};  ///< the reason why a way to copy is missing
    std::shared_ptr<const TreePlaces> tree{};
  };
  [[nodiscard]] const Findings* findings() const noexcept { return findings_.get(); }
  void keep_findings(Findings found) { findings_ = std::make_unique<const Findings>(std::move(found)); }

 private:
  [[nodiscard]] std::size_t bytes() const noexcept { return layout_.total(size_); }
  /// What the ranks may reserve of an arena after it was made, in bytes.
  [[nodiscard]] std::size_t later_bytes() const noexcept {
    return static_cast<std::size_t>(size_) * (layout_.promised_bytes() - Layout::early_bytes());
  }
  [[nodiscard]] Plot plot_at(std::uint32_t id, const std::shared_ptr<Segment>& segment, int index) const noexcept;
  [[nodiscard]] Plot add(std::uint32_t id, Segment segment);
  [[nodiscard]] std::uint64_t take_free(std::uint32_t id, const std::shared_ptr<Segment>& segment, bool warm) noexcept;
  [[nodiscard]] bool prepare(const Plot& plot) const noexcept;
  [[nodiscard]] bool clear(const Plot& plot, bool keeps_early) const noexcept;
  [[nodiscard]] bool is_warm_enough() const noexcept;
  [[nodiscard]] std::size_t next_arenas() const noexcept;

  Layout layout_;
  int size_;
  std::unique_ptr<const Findings> findings_{};
  mutable std::mutex mutex_;
  std::map<std::uint32_t, std::shared_ptr<Segment>> segments_{};
  std::size_t arenas_ = 0;  ///< of all segments that rank 0 has made
  std::uint32_t last_id_ = 0;
  std::atomic<bool> reuses_{false};  ///< the kernel can reserve pages of an arena again
};

}  // namespace tutti::detail::shm
