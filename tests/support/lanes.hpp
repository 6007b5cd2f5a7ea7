// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/detail/launch/work.hpp>
#include <vector>

/// Runs kernels lane by lane, for tests of what lanes do to one another: in place of a host space, where
/// <tutti/kernels/launch.hpp> is compiled with TUTTI_HOST_LANES naming this file.
namespace tutti::lanes {

/// The order of items and lanes follows from it.
void set_seed(std::uint64_t seed);
/// Faults since the last call: places of scratch memory that two lanes wrote between two barriers, or that one lane
/// wrote and another read, or that all lanes wrote at once.
[[nodiscard]] std::vector<const char*> take_faults();

/// The numbers below `count` in an order of the seed.
[[nodiscard]] std::vector<std::size_t> shuffled(std::size_t count);

/// The scratch memory of one warp. Between two barriers each lane sees it as it was at the first, and its own writes.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes);
  [[nodiscard]] std::byte* data() { return now_.data(); }
  /// A barrier: all lanes see the same again.
  void begin();
  /// After what one lane did.
  void leave();
  void end();

 private:
  void report(const char* fault);
  /// Takes over what the lane wrote there, and takes it back from what the next one sees.
  void take(std::size_t first, std::size_t end);
  std::size_t bytes_;
  std::vector<std::byte> now_;     ///< what the lane at work sees
  std::vector<std::byte> before_;  ///< at the barrier
  std::vector<std::byte> after_;   ///< with the writes of all lanes
  std::vector<bool> written_;      ///< by a lane since the barrier
};

class Warp {
 public:
  explicit Warp(Scratch& scratch) : scratch_(scratch) {}

  template <typename Body>
  void each(std::size_t count, const Body& body) const {
    scratch_.begin();
    for (const std::size_t k : shuffled(count)) {
      body(k);
      scratch_.leave();
    }
    scratch_.end();
  }
  template <typename T>
  [[nodiscard]] T* scratch(std::size_t bytes_before = 0) const {
    return reinterpret_cast<T*>(scratch_.data() + bytes_before);
  }

 private:
  Scratch& scratch_;
};

}  // namespace tutti::lanes

namespace tutti::kernels::device {

struct HostLanes {};

template <typename Body>
void launch_on(HostLanes /*space*/, const ItemWork<Body>& work) {
  for (const std::size_t i : lanes::shuffled(work.count)) work(i);
}

template <typename Body>
void launch_on(HostLanes /*space*/, const WarpWork<Body>& work) {
  for (const std::size_t item : lanes::shuffled(work.count)) {
    lanes::Scratch scratch(work.scratch_bytes);
    work(lanes::Warp(scratch), item);
    scratch.begin();  // what all lanes have written last
  }
}

}  // namespace tutti::kernels::device
