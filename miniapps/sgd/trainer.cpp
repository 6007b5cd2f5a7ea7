// SPDX-License-Identifier: BSD-3-Clause
#include "trainer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/embedding_collection.hpp>
#include <tutti/exact.hpp>

#include "common/agree.hpp"

namespace sgd {

namespace mini = tutti::miniapps;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t warmup_steps = 5;

}  // namespace

std::string not_finite_text(const std::string& what, const Position& at) {
  return what + " is not a number after step " + std::to_string(at.step) +
         ": training has diverged; lower --learning-rate, or continue from an earlier checkpoint with --load "
         "(--no-stop-on-nan goes on)";
}

mini::ScoreLoss loss_of(const Options& o) {
  return o.model == "linear"     ? mini::ScoreLoss::squared
         : o.model == "logistic" ? mini::ScoreLoss::logistic
                                 : mini::ScoreLoss::softmax;
}

template <typename Float>
Trainer<Float>::Trainer(const tutti::Communicator& comm, const Options& options, const Source& source,
                        Model<Float>& model, Synchronizer<Float>& synchronizer)
    : comm_(&comm),
      options_(&options),
      source_(&source),
      model_(&model),
      synchronizer_(&synchronizer),
      joins_(options.mode == "join"),
      sampler_(source.samples(Split::train), options.batch_size, options.seed, joins_ ? Cut::front : Cut::even),
      timer_(total_steps() > 4 * warmup_steps ? warmup_steps : 0) {
  schedule_ = {options.schedule,    options.learning_rate, options.warmup_steps,
               options.decay_every, options.decay_factor,  total_steps()};
  if (options.gradient_accumulation > 1) {
    for (const auto& tensor : model.tensors()) {
      accumulated_.emplace_back(tensor.value.size());
    }
  }
}

template <typename Float>
std::uint64_t Trainer<Float>::total_steps() const {
  const std::uint64_t all = sampler_.batches() * options_->epochs;
  return options_->max_steps > 0 ? std::min(all, options_->max_steps) : all;
}

template <typename Float>
void Trainer<Float>::read(const Permutation& order, mini::SampleRange range) {
  rows_.clear();
  const std::uint64_t first = at_.batch * options_->batch_size;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    source_->append(Split::train, order(first + i), rows_);
  }
  labels_.assign(rows_.labels.begin(), rows_.labels.end());
}

template <typename Float>
void Trainer<Float>::gradient_ready(std::size_t i, bool first, bool last) {
  if (!accumulated_.empty()) {
    const auto gradient = model_->tensors()[i].gradient;
    auto& sum = accumulated_[i];
    for (std::size_t v = 0; v < sum.size(); ++v) {
      sum[v] = first ? gradient[v] : sum[v] + gradient[v];
    }
    if (last) {
      std::copy(sum.begin(), sum.end(), gradient.begin());
    }
  }
  synchronizer_->ready(i, timer_);
  timer_.enter(Stage::backward);
}

template <typename Float>
void Trainer<Float>::pass(const Permutation& order, mini::SampleRange range, bool first, bool last) {
  timer_.enter(Stage::data);
  read(order, range);
  synchronizer_->begin_pass(last);
  timer_.enter(Stage::forward);
  const auto scores = model_->forward(rows_);
  score_gradient_.resize(scores.size());
  const std::size_t samples =
      synchronizer_->local_mean() ? std::max<std::size_t>(1, part().size()) : sampler_.count(at_.batch);
  losses_.push_back(mini::score_loss(loss_of(*options_), scores, model_->outputs(), std::span<const Float>(labels_),
                                     samples, std::span<Float>(score_gradient_)));
  timer_.enter(Stage::backward);
  model_->backward(rows_, score_gradient_, [&](std::size_t i) { gradient_ready(i, first, last); });
}

/// The samples of each pass: parts of this rank's share, or its blocks, which do not depend on the number of ranks.
template <typename Float>
std::vector<mini::SampleRange> Trainer<Float>::passes() const {
  const bool has_blocks = options_->reproducible;
  const std::size_t parts = has_blocks ? options_->blocks : options_->gradient_accumulation;
  const auto of_all = has_blocks ? mini::SampleRange{0, sampler_.count(at_.batch)} : part();
  const auto mine =
      has_blocks ? tutti::sample_slice(parts, comm_->rank(), comm_->size()) : tutti::SampleSlice{0, parts};
  std::vector<mini::SampleRange> ranges;
  for (std::size_t i = mine.begin; i < mine.end; ++i) {
    const auto slice = tutti::sample_slice(of_all.size(), static_cast<int>(i), static_cast<int>(parts));
    ranges.push_back({of_all.begin + slice.begin, of_all.begin + slice.end});
  }
  return ranges;
}

/// The losses of a step's passes; reproducible ones are added exactly over the ranks, and rank 0 keeps the sum.
template <typename Float>
void Trainer<Float>::add_losses() {
  double sum = std::accumulate(losses_.begin(), losses_.end(), 0.0);
  if (options_->reproducible) {
    tutti::exact_sum(*comm_, losses_, tutti::Buffer(&sum, 1));
    sum = comm_->rank() == 0 ? sum : 0;
  }
  at_.loss_sum += sum;
  losses_.clear();
}

template <typename Float>
void Trainer<Float>::step(const Permutation& order) {
  timer_.begin_step();
  synchronizer_->begin_step(timer_);
  const auto ranges = passes();
  for (std::size_t p = 0; p < ranges.size(); ++p) {
    pass(order, ranges[p], p == 0, p + 1 == ranges.size());
  }
  synchronizer_->finish(timer_);
  add_losses();
  synchronizer_->update(schedule_.at(at_.step + 1), timer_);
  timer_.end_step();
}

template <typename Float>
LossEntry Trainer<Float>::collect_loss() {
  double sum = at_.loss_sum;
  tutti::allreduce(*comm_, &sum, 1, tutti::sum);
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - last_print_).count();
  LossEntry entry{at_.step, at_.epoch, at_.batch, sum / static_cast<double>(at_.loss_samples),
                  ms / static_cast<double>(printed_steps_)};
  at_.loss_sum = 0;
  at_.loss_samples = 0;
  printed_steps_ = 0;
  return entry;
}

template <typename Float>
void Trainer<Float>::end_step(const TrainerEvents& events, TrainingResults& results) {
  at_.loss_samples += sampler_.count(at_.batch);
  ++at_.batch;
  ++at_.step;
  ++printed_steps_;
  events.on_step(at_);
  if (at_.step % options_->print_freq == 0 || ends()) {
    results.losses.push_back(collect_loss());
    events.on_loss(results.losses.back());
    last_print_ = Clock::now();
    if (options_->stop_on_nan && !options_->compare) {
      const bool good = std::isfinite(results.losses.back().loss);
      mini::agree(*comm_, good ? std::string() : not_finite_text("the loss", at_));
    }
  }
  if (options_->save_freq > 0 && at_.step % options_->save_freq == 0 && !ends()) {
    events.on_save(at_);
  }
}

template <typename Float>
void Trainer<Float>::run_epoch(const TrainerEvents& events, TrainingResults& results) {
  const Permutation order = sampler_.order(at_.epoch);
  while (at_.batch < sampler_.batches() && !ends() && !(joins_ && part().size() == 0)) {
    step(order);
    end_step(events, results);
  }
  while (joins_) {
    timer_.begin_step();
    if (!synchronizer_->join(timer_)) {
      break;
    }
    synchronizer_->update(schedule_.at(at_.step + 1), timer_);
    timer_.end_step();
    end_step(events, results);
  }
}

template <typename Float>
TrainingResults Trainer<Float>::run(Position start, const TrainerEvents& events) {
  TrainingResults results;
  at_ = start;
  const auto begin = Clock::now();
  last_print_ = begin;
  while (at_.epoch < options_->epochs && !ends()) {
    run_epoch(events, results);
    if (at_.batch == sampler_.batches()) {
      at_.batch = 0;
      ++at_.epoch;
    }
  }
  results.training_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  results.steps = at_.step - start.step;
  events.on_save(at_);
  synchronizer_->settle(timer_);
  summarize(results);
  return results;
}

template <typename Float>
void Trainer<Float>::summarize(TrainingResults& results) const {
  results.ms_per_step = 1e3 * timer_.median_step();
  tutti::allreduce(*comm_, &results.ms_per_step, 1, tutti::max);
  results.phases = tutti::miniapps::phase_times(*comm_, timer_);
  for (const auto& phase : results.phases) {
    results.exposed_ms += phase.exposed ? phase.mean : 0;
  }
  results.bytes_per_step = synchronizer_->bytes_per_step();
  results.details = synchronizer_->details();
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace sgd
