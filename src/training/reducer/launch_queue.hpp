// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tutti/communication_hook.hpp>
#include <tutti/communicator.hpp>
#include <tutti/request.hpp>
#include <vector>

#include "training/reducer/bucket_transfer.hpp"

namespace tutti::detail::reducer {

/// Launches the collectives of a step, in this order on all ranks: with `uneven` the number of ranks that have a step,
/// the buckets, with `find_unused` one bit a parameter, and the status. One thread at a time drives it; another may
/// call allow().
class LaunchQueue {
 public:
  struct Setup {
    std::span<const Communicator> comms;
    CommunicationHook* hook = nullptr;
    const BucketTransfer* transfer = nullptr;
    std::size_t buckets = 0;
    bool counts_active = false;
    bool finds_unused = false;
    /// Polling makes the stream wait for the result, which would delay the rest of backward: so polls begin in close(),
    /// or when no more buckets fit.
    bool polls_after_backward = false;
  };
  void prepare(const Setup& setup) { setup_ = setup; }

  /// Begins a step; `active`: this rank has one.
  void begin(bool active);
  /// Allows the first `buckets` buckets to be launched: they are full.
  void allow(std::size_t buckets) noexcept { allowed_.store(buckets, std::memory_order_release); }
  /// Gives the words that go after the buckets, and allows all buckets.
  void close(std::int64_t status, std::vector<std::uint64_t> used);
  /// Launches the next bucket, if it is allowed, and polls the ones under way. Returns whether there was work, as far
  /// as it can be told.
  bool advance();
  /// Ends a step in which no rank takes part.
  void abandon() noexcept { phase_ = Phase::idle; }

  [[nodiscard]] bool is_open() const { return phase_ != Phase::idle; }
  /// Whether reductions are under way that this rank has not seen the end of.
  [[nodiscard]] bool is_outstanding() const {
    return under_way_ > 0 || active_request_.valid() || used_request_.valid() || status_request_.valid();
  }
  [[nodiscard]] bool knows_active() const { return !active_request_.valid(); }
  [[nodiscard]] std::int64_t active() const { return active_; }
  /// Whether advance() can do anything before allow() or close() is called again.
  [[nodiscard]] bool has_work() const {
    if (phase_ == Phase::launching) return under_way_ > 0 || may_launch() || !knows_active();
    return is_open();
  }
  /// The largest status of all ranks in the last step.
  [[nodiscard]] std::int64_t status() const { return status_; }
  /// The parameters that any rank used in the last step, one bit each.
  [[nodiscard]] const std::vector<std::uint64_t>& used() const { return used_; }

 private:
  /// A step passes through these in order.
  enum class Phase : std::uint8_t {
    idle,       ///< between steps
    launching,  ///< backward goes on: buckets are launched as they become full
    closed,     ///< backward is over; the last words wait until all buckets are launched
    ending,     ///< everything is launched
  };

  [[nodiscard]] bool is_full() const;
  [[nodiscard]] bool may_launch() const;
  [[nodiscard]] bool may_poll() const;
  bool launch_next();
  void poll();
  void poll_bucket(std::size_t bucket);
  void launch_last_words();
  void end_when_done();

  Setup setup_;
  std::atomic<std::size_t> allowed_{0};
  Phase phase_ = Phase::idle;
  std::size_t next_ = 0;       ///< the bucket to launch next
  std::size_t oldest_ = 0;     ///< the first launched bucket that is not done
  std::size_t turn_ = 0;       ///< the younger bucket that poll() tests beside the oldest
  std::size_t under_way_ = 0;  ///< buckets launched and not done
  std::vector<bool> is_done_;
  Request active_request_;
  Request used_request_;
  Request status_request_;
  std::int64_t active_ = 0;
  std::int64_t status_ = 0;
  std::vector<std::uint64_t> used_;
};

}  // namespace tutti::detail::reducer
