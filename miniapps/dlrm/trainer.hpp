// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <tutti/communicator.hpp>

#include "batch_feed.hpp"
#include "common/loss.hpp"
#include "common/lr_schedule.hpp"
#include "engine.hpp"
#include "options.hpp"
#include "run_results.hpp"

namespace dlrm {

/// Where a run stands: the steps done, the epoch and batch that come next, and the losses not yet printed.
struct Position {
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
  double loss_sum = 0;  ///< over all ranks
  std::uint64_t loss_samples = 0;
};

/// What happens between steps. Called on all ranks at the same places; each may be collective.
struct TrainerEvents {
  std::function<void(const LossEntry&)> on_loss;
  std::function<void(const Position&)> on_step;
  std::function<void(const Position&)> on_save;  ///< at --save-freq and at the end
  std::function<bool(const Position&)> on_test;  ///< true: good enough, training ends
};

/// The error text where the loss or the parameters are no numbers.
[[nodiscard]] std::string not_finite_text(const std::string& what, const Position& at);

/// The loss that the options name.
[[nodiscard]] tutti::miniapps::LossOptions loss_options(const Options& options);

/// The training loop. Collective over the communicator.
class Trainer {
 public:
  Trainer(const tutti::Communicator& comm, const Options& options, Engine& engine, BatchFeed& feed);

  /// Trains from `start` to the end.
  TrainingResults run(Position start, const TrainerEvents& events);

  [[nodiscard]] std::uint64_t batches_per_epoch() const { return batches_; }
  [[nodiscard]] std::uint64_t total_steps() const;

 private:
  /// `goes_on`: another batch of the epoch comes next, and may begin.
  void step(bool goes_on);
  void run_step(Position& at, const TrainerEvents& events, TrainingResults& results);
  [[nodiscard]] double summed_loss();
  [[nodiscard]] LossEntry collect_loss(const Position& at);
  void save(Position at, const TrainerEvents& events);
  void summarize(TrainingResults& results) const;
  [[nodiscard]] bool ends(const Position& at) const { return reached_ || at.step >= total_steps(); }
  [[nodiscard]] bool tests_after(const Position& at) const;

  const tutti::Communicator* comm_;
  const Options* options_;
  Engine* engine_;
  BatchFeed* feed_;
  std::uint64_t batches_;
  tutti::miniapps::LrSchedule schedule_;
  PhaseTimer timer_;
  BatchFeed::Loaded ahead_;  ///< the next step's, where it has begun
  bool reached_ = false;     ///< a test was good enough
  std::uint64_t steps_ = 0;
  double loss_sum_ = 0;
  std::uint64_t loss_samples_ = 0;
  std::uint64_t printed_steps_ = 0;
  std::chrono::steady_clock::time_point last_print_{};
};

}  // namespace dlrm
