// SPDX-License-Identifier: BSD-3-Clause
#include "step_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tutti/collectives/allreduce.hpp>

#include "setup.hpp"
#include "trainer.hpp"

namespace dlrm {

namespace {

constexpr std::uint64_t prepared_batches = 4;
// Plans, first touches of memory and captures of graphs: each of two slots, directly and captured.
constexpr std::uint64_t bench_warmup_steps = 6;

double train(const tutti::Communicator& comm, const Options& options, Engine& engine, BatchFeed& feed) {
  Trainer trainer(comm, options, engine, feed);
  TrainerEvents events;
  const auto ignore = [](const auto&) {};
  events.on_loss = ignore;
  events.on_step = ignore;
  events.on_save = ignore;
  events.on_test = [](const Position&) { return false; };
  return trainer.run({}, events).training_seconds;
}

}  // namespace

std::vector<StepTime> bench_steps(const tutti::Communicator& comm, const Options& options, Engine& engine,
                                  const ReaderPart& part, const std::function<void(const StepTime&)>& on_time) {
  std::vector<StepTime> times;
  for (const std::size_t batch : options.bench_batches) {
    Options each = options;
    each.mini_batch_size = batch;
    each.print_freq = ~std::uint64_t{0};
    each.test_freq = -1;
    const auto source = make_source(each);
    BatchFeed feed(*source, tutti::miniapps::Split::train, batch, part, {.prepared = prepared_batches});
    each.max_steps = bench_warmup_steps;
    train(comm, each, engine, feed);
    each.max_steps = 0;
    double seconds = train(comm, each, engine, feed);
    tutti::allreduce(comm, &seconds, 1, tutti::max);
    times.push_back({batch, 1e3 * seconds / static_cast<double>(each.num_batches), each.num_batches});
    on_time(times.back());
  }
  return times;
}

std::string step_head() { return fmt::format("{:>8}{:>8}{:>12}{:>14}\n", "batch", "steps", "ms/step", "samples/s"); }

std::string step_line(const StepTime& time) {
  return fmt::format("{:>8}{:>8}{:>12.3f}{:>14.0f}\n", time.batch, time.steps, time.ms,
                     1e3 * static_cast<double>(time.batch) / std::max(time.ms, 1e-9));
}

}  // namespace dlrm
