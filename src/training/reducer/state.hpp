// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <tutti/gradient_reducer.hpp>
#include <vector>

#include "training/reducer/bucket_set.hpp"
#include "training/reducer/bucket_transfer.hpp"
#include "training/reducer/driver.hpp"
#include "training/reducer/launch_queue.hpp"
#include "training/reducer/ready_tracker.hpp"
#include "training/reducer/saved.hpp"
#include "training/reducer/tuner.hpp"

namespace tutti {

/// The implementation of a GradientReducer: the parts in src/training/reducer, and the order in which a step uses them.
struct GradientReducer::State {
  State(const Communicator& user, ReducerOptions chosen);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::size_t add(Parameter parameter);
  void prepare();
  void ready(std::size_t i);
  void progress();
  void wait();
  bool join();
  void set_sync(bool sync);
  [[nodiscard]] Buffer gradient(std::size_t i) const;
  [[nodiscard]] const Parameter& parameter(std::size_t i) const;
  [[nodiscard]] bool used(std::size_t i) const;
  [[nodiscard]] const CommunicationHook& hook() const { return *hook_; }
  [[nodiscard]] std::string map() const;
  [[nodiscard]] ReducerStatistics statistics() const;
  [[nodiscard]] std::vector<std::byte> save() const;
  void load(std::span<const std::byte> bytes);

  std::vector<Parameter> parameters;
  std::optional<detail::reducer::BucketSet> buckets;
  std::size_t layouts = 0;

 private:
  using Clock = std::chrono::steady_clock;

  void require_index(const char* call, std::size_t i) const;
  void require_prepared(const char* call) const;
  void require_between_steps(const char* call) const;
  void arrange(const detail::reducer::BucketPlan& plan);
  void plan_and_arrange();
  void begin_step(bool active);
  [[nodiscard]] bool keeps(std::size_t i);
  void end_step(const detail::reducer::Fault& fault);
  void copy_out();
  void adapt(double seconds);
  [[nodiscard]] bool take_arrival();
  [[nodiscard]] bool copies_out_at_end() const { return options_.check || options_.find_unused; }

  const Communicator* user_;
  ReducerOptions options_;
  std::shared_ptr<CommunicationHook> hook_;
  std::vector<Communicator> comms_;
  detail::reducer::ReadyTracker tracker_;
  std::optional<detail::reducer::BucketTransfer> transfer_;
  std::unique_ptr<detail::reducer::LaunchQueue> queue_ = std::make_unique<detail::reducer::LaunchQueue>();
  detail::reducer::Tuner tuner_;
  std::vector<std::size_t> order_;
  detail::reducer::BucketPlan plan_;
  std::vector<std::uint64_t> used_bits_;
  std::size_t passes_ = 1;             ///< of backward on this rank in a step
  std::vector<std::size_t> passed_{};  ///< of each parameter, the passes before the last that are done
  Clock::time_point step_begin_{};
  double beside_seconds_ = 0;  ///< spent in ready() and progress() in this step
  ReducerStatistics statistics_{};
  bool syncs_ = true;
  bool order_settled_ = false;
  std::unique_ptr<detail::reducer::Driver> driver_;
};

}  // namespace tutti
