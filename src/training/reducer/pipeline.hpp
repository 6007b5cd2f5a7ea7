// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tutti/communication_hook.hpp>
#include <tutti/communicator.hpp>
#include <tutti/request.hpp>
#include <vector>

namespace tutti::detail::reducer {

/// What goes over the wire in a step, in this order on all ranks: with `uneven` the number of ranks that have a step,
/// the buckets, with `find_unused` a bit for each parameter, and the status. It is driven by one thread at a time;
/// allow() may be called by another.
class Pipeline {
 public:
  struct Setup {
    std::span<const Communicator> comms;
    CommunicationHook* hook = nullptr;
    std::span<const GradientBucket> buckets;
    bool counts_active = false;
    bool finds_unused = false;
    bool looks_late = false;  ///< a look puts the result before what follows on a stream: after backward only
    std::function<void(std::size_t)> full;      ///< of each bucket, just before it is launched
    std::function<void(std::size_t)> finished;  ///< of each bucket, as soon as its result is there
  };
  void prepare(Setup setup);

  /// A step begins, on a rank that has one or not.
  void begin(bool active);
  /// The first `buckets` buckets are full.
  void allow(std::size_t buckets) noexcept { allowed_.store(buckets, std::memory_order_release); }
  /// Gives what goes last, once all buckets are full.
  void close(std::int64_t status, std::vector<std::uint64_t> used);
  /// Launches the next bucket, if it may, and looks at those that are under way. Whether there was anything to do, as
  /// far as it can be seen.
  bool advance();
  /// Ends a step in which no rank takes part.
  void abandon() noexcept { is_open_ = false; }

  [[nodiscard]] bool is_open() const { return is_open_; }
  /// Whether reductions are under way that this rank has not seen the end of.
  [[nodiscard]] bool is_outstanding() const {
    return under_way_ > 0 || active_request_.valid() || used_request_.valid() || status_request_.valid();
  }
  [[nodiscard]] bool knows_active() const { return !active_request_.valid(); }
  [[nodiscard]] std::int64_t active() const { return active_; }
  /// Whether advance() can do anything before allow() or close() is called again.
  [[nodiscard]] bool has_work() const {
    return is_open_ && (under_way_ > 0 || may_launch() || !knows_active() || is_closed_);
  }
  /// Of the last step.
  [[nodiscard]] std::int64_t status() const { return status_; }
  [[nodiscard]] const std::vector<std::uint64_t>& used() const { return used_; }

 private:
  [[nodiscard]] bool may_launch() const;
  bool launch_next();
  void look();
  bool look_at(std::size_t bucket);
  void launch_last();
  void end_when_done();

  Setup setup_;
  std::atomic<std::size_t> allowed_{0};
  bool is_open_ = false;
  bool is_closed_ = false;
  bool launched_last_ = false;
  std::size_t next_ = 0;       ///< to be launched
  std::size_t oldest_ = 0;     ///< all before it are done
  std::size_t turn_ = 0;       ///< another that is looked at
  std::size_t under_way_ = 0;  ///< buckets
  std::vector<bool> is_done_;
  Request active_request_;
  Request used_request_;
  Request status_request_;
  std::int64_t active_ = 0;
  std::int64_t status_ = 0;
  std::vector<std::uint64_t> used_;
};

}  // namespace tutti::detail::reducer
