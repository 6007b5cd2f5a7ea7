// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <tutti/communicator.hpp>

#include "common/loss.hpp"
#include "model.hpp"
#include "optimizer.hpp"
#include "options.hpp"
#include "phases.hpp"
#include "run_results.hpp"
#include "sampler.hpp"
#include "synchronizer.hpp"

namespace sgd {

/// Where a run stands: the steps done, the epoch and batch that come next, and the losses not yet printed.
struct Position {
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
  double loss_sum = 0;  ///< of this rank's samples
  std::uint64_t loss_samples = 0;
};

/// The error text where the loss or the parameters are no numbers.
[[nodiscard]] std::string not_finite_text(const std::string& what, const Position& at);

/// What happens between steps. Called on all ranks at the same places; each may be collective.
struct TrainerEvents {
  std::function<void(const LossEntry&)> on_loss;
  std::function<void(const Position&)> on_step;  ///< local only
  std::function<void(const Position&)> on_save;  ///< at --save-freq and at the end
};

[[nodiscard]] tutti::miniapps::ScoreLoss loss_of(const Options& options);

/// The training loop. Collective over the communicator.
template <typename Float>
class Trainer {
 public:
  Trainer(const tutti::Communicator& comm, const Options& options, const Source& source, Model<Float>& model,
          Synchronizer<Float>& synchronizer);

  /// Trains from `start` to the end.
  TrainingResults run(Position start, const TrainerEvents& events);

  [[nodiscard]] std::uint64_t batches_per_epoch() const { return sampler_.batches(); }
  [[nodiscard]] std::uint64_t total_steps() const;

 private:
  void run_epoch(const TrainerEvents& events, TrainingResults& results);
  void step(const Permutation& order);
  [[nodiscard]] std::vector<tutti::miniapps::SampleRange> passes() const;
  void add_losses();
  void pass(const Permutation& order, tutti::miniapps::SampleRange range, bool first, bool last);
  void read(const Permutation& order, tutti::miniapps::SampleRange range);
  void gradient_ready(std::size_t tensor, bool first, bool last);
  void end_step(const TrainerEvents& events, TrainingResults& results);
  [[nodiscard]] LossEntry collect_loss();
  void summarize(TrainingResults& results) const;
  [[nodiscard]] bool ends() const { return at_.step >= total_steps(); }
  [[nodiscard]] tutti::miniapps::SampleRange part() const {
    return sampler_.part(at_.batch, comm_->rank(), comm_->size());
  }

  const tutti::Communicator* comm_;
  const Options* options_;
  const Source* source_;
  Model<Float>* model_;
  Synchronizer<Float>* synchronizer_;
  bool joins_;
  Sampler sampler_;
  Schedule schedule_;
  StepTimer timer_;
  Position at_;
  Rows rows_;
  std::vector<Float> labels_;
  std::vector<Float> score_gradient_;
  std::vector<std::vector<Float>> accumulated_;  ///< of the passes before the last, by tensor
  std::vector<double> losses_;                   ///< of the passes of a step
  std::uint64_t printed_steps_ = 0;
  std::chrono::steady_clock::time_point last_print_{};
};

extern template class Trainer<float>;
extern template class Trainer<double>;

}  // namespace sgd
