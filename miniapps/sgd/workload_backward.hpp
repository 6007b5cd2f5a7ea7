// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <tutti/communicator.hpp>

namespace sgd {

/// What stands for a computation: a sleep, as where a GPU computes and the core is free, or work for the core.
enum class Load : std::uint8_t { sleep, compute };

struct LoadOptions {
  Load load = Load::sleep;
  double interval_us = 100;  ///< between two calls of `progress` in a long part
};

/// A computation of a given length in parts, which may be driving communication meanwhile.
class TimedWork {
 public:
  virtual ~TimedWork() = default;
  /// Begins a computation of so many milliseconds in all.
  virtual void begin(double milliseconds) = 0;
  /// Does it up to `share` (0 to 1) of its length, counted from begin(), so that rounding does not add up. `progress`
  /// may be empty; else it is called now and then.
  virtual void advance_to(double share, const std::function<void()>& progress) = 0;
};

/// Sleep: until a deadline of the monotonic clock; what is done meanwhile does not move it, as with a GPU. Compute:
/// multiplications and additions in the first-level cache, as much work in every step whatever the clock says; rank 0
/// finds out once how much a millisecond is. Collective over `comm`; blocking.
[[nodiscard]] std::unique_ptr<TimedWork> make_timed_work(const tutti::Communicator& comm, const LoadOptions& options);

}  // namespace sgd
