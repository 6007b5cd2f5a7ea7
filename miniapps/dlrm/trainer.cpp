// SPDX-License-Identifier: BSD-3-Clause
#include "trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <tutti/collectives/allreduce.hpp>

#include "common/agree.hpp"

namespace dlrm {

namespace mini = tutti::miniapps;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t warmup_steps = 5;

std::uint64_t epoch_batches(const Options& options, const BatchFeed& feed) {
  const std::uint64_t all = feed.batches();
  return options.num_batches > 0 ? std::min(all, options.num_batches) : all;
}

}  // namespace

std::string not_finite_text(const std::string& what, const Position& at) {
  return what + " is not a number after step " + std::to_string(at.step) +
         ": training has diverged; lower --learning-rate, or continue from an earlier checkpoint with --load "
         "(--no-stop-on-nan goes on)";
}

mini::LossOptions loss_options(const Options& options) {
  return {mini::loss_kind(options.loss_function),
          {options.loss_weights[0], options.loss_weights[1]},
          options.loss_threshold};
}

Trainer::Trainer(const tutti::Communicator& comm, const Options& options, Engine& engine, BatchFeed& feed)
    : comm_(&comm),
      options_(&options),
      engine_(&engine),
      feed_(&feed),
      batches_(epoch_batches(options, feed)),
      schedule_{options.learning_rate, options.warmup_steps, options.decay_start_step, options.decay_steps},
      timer_(total_steps() > 4 * warmup_steps ? warmup_steps : 0) {
  schedule_.validate();
}

std::uint64_t Trainer::total_steps() const {
  const std::uint64_t all = batches_ * options_->nepochs;
  return options_->max_steps > 0 ? std::min(all, options_->max_steps) : all;
}

void Trainer::step(bool goes_on) {
  timer_.begin_step();
  timer_.enter(Stage::wait);
  const BatchFeed::Loaded loaded = ahead_.batch != nullptr ? ahead_ : feed_->next();
  ahead_ = {};
  const auto& batch = *loaded.batch;
  engine_->start_step(batch, timer_, loaded.error);
  loss_samples_ += batch.count;
  ++steps_;
  if (goes_on) {
    timer_.enter(Stage::wait);
    ahead_ = feed_->next();
    timer_.enter(Stage::input);
    engine_->prefetch(*ahead_.batch, ahead_.error);
  }
  engine_->finish_step(batch, static_cast<float>(schedule_.at(steps_)), timer_);
  timer_.end_step();
  ++printed_steps_;
  if (options_->reproducible) {
    loss_sum_ += engine_->take_loss();  // step by step, wherever losses are printed or saved
  }
}

double Trainer::summed_loss() {
  loss_sum_ += engine_->take_loss();
  double sum = loss_sum_;
  tutti::allreduce(*comm_, &sum, 1, tutti::sum);
  return sum;
}

LossEntry Trainer::collect_loss(const Position& at) {
  const double sum = summed_loss();
  const auto now = Clock::now();
  const double ms = std::chrono::duration<double, std::milli>(now - last_print_).count();
  LossEntry entry{at.step, at.epoch, at.batch, sum / static_cast<double>(loss_samples_),
                  ms / static_cast<double>(printed_steps_)};
  loss_sum_ = 0;
  loss_samples_ = 0;
  printed_steps_ = 0;
  return entry;
}

void Trainer::save(Position at, const TrainerEvents& events) {
  at.loss_sum = summed_loss();
  at.loss_samples = loss_samples_;
  events.on_save(at);
}

bool Trainer::tests_after(const Position& at) const {
  return options_->test_freq > 0 && at.step % static_cast<std::uint64_t>(options_->test_freq) == 0 && !ends(at);
}

void Trainer::run_step(Position& at, const TrainerEvents& events, TrainingResults& results) {
  Position after = at;
  ++after.step;
  const bool may_stop = options_->auc_threshold > 0 && tests_after(after);
  const bool goes_on = options_->pipeline && at.batch + 1 < batches_ && after.step < total_steps() && !may_stop;
  step(goes_on);
  ++at.batch;
  ++at.step;
  events.on_step(at);
  if (at.batch % options_->print_freq == 0 || at.batch == batches_) {
    results.losses.push_back(collect_loss(at));
    events.on_loss(results.losses.back());
    last_print_ = Clock::now();
    if (options_->stop_on_nan) {
      const bool good = std::isfinite(results.losses.back().loss);
      mini::agree(*comm_, good ? std::string() : not_finite_text("the loss", at));
    }
  }
  if (options_->save_freq > 0 && at.step % options_->save_freq == 0 && !ends(at)) {
    save(at, events);
  }
  if (tests_after(at)) {
    reached_ = events.on_test(at);
  }
}

TrainingResults Trainer::run(Position start, const TrainerEvents& events) {
  TrainingResults results;
  Position at = start;
  steps_ = at.step;
  loss_sum_ = comm_->rank() == 0 ? at.loss_sum : 0;
  loss_samples_ = at.loss_samples;
  const auto begin = Clock::now();
  last_print_ = begin;
  feed_->start({at.epoch, at.batch, batches_, total_steps() - std::min(total_steps(), at.step)});
  while (at.epoch < options_->nepochs && !ends(at)) {
    while (at.batch < batches_ && !ends(at)) {
      run_step(at, events, results);
    }
    if (at.batch >= batches_) {
      at.batch = 0;
      ++at.epoch;
    }
  }
  loss_sum_ += engine_->take_loss();
  results.training_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  results.steps = at.step - start.step;
  save(at, events);
  summarize(results);
  return results;
}

void Trainer::summarize(TrainingResults& results) const {
  results.ms_per_iteration = 1e3 * timer_.median_step();
  tutti::allreduce(*comm_, &results.ms_per_iteration, 1, tutti::max);
  results.phases = mini::phase_times(*comm_, timer_);
}

}  // namespace dlrm
