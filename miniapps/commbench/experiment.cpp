// SPDX-License-Identifier: BSD-3-Clause
#include "experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "device_timer.hpp"

namespace tutti::commbench {
namespace {

/// Persistent requests keep scratch memory each.
constexpr std::size_t most_persistent_slots = 64;
constexpr std::size_t most_in_a_batch = 512;

World world_of(const Communicator& comm, const Settings& settings) { return {comm.rank(), comm.size(), settings.root}; }

/// Where the settings ask for buffers of its own for each iteration: how many may follow one another. Equal on all
/// ranks: counted by the longest buffer of any rank.
std::size_t slots_for(const Settings& settings, const Point& point, const Shape& shape) {
  if (settings.reuse == Reuse::reuse || point.operation == Operation::barrier) return 1;
  const std::size_t fit = settings.cold_bytes / (2 * (shape.largest * point.type.size() + 8192));
  const std::size_t most = point.mode == Mode::persistent ? most_persistent_slots : most_in_a_batch;
  return std::clamp<std::size_t>(fit, 2, most);
}

Pattern pattern_of(const Point& point, int ranks) { return {point.type, point.op, ranks}; }

}  // namespace

Experiment::Experiment(const Communicator& comm, const Settings& settings, const Point& point, const Shape& shape,
                       const std::string& algorithm, Equipment& equipment)
    : comm_(comm),
      settings_(settings),
      point_(point),
      shape_(shape),
      world_(world_of(comm, settings)),
      algorithm_(algorithm),
      team_(comm),
      equipment_(equipment),
      buffer_shape_(settings.in_place ? make_in_place(point.operation, world_, shape) : shape),
      buffers_(point, buffer_shape_, world_, pattern_of(point, comm.size()), settings.reuse,
               slots_for(settings, point, shape) * communicators(), &comm) {
  if (is_on_device(point.memory)) stream_.emplace();
  make_calls();
}

std::unique_ptr<MeasuredCall> Experiment::make_call(const Communicator& comm, std::size_t buffer) {
  Arguments arguments{point_, world_, &shape_, buffers_.send(buffer), buffers_.recv(buffer)};
  if (stream_) arguments.stream = stream_->stream();
  arguments.accumulation = settings_.accumulation;
  arguments.in_place = settings_.in_place;
  if (algorithm_ == host_mpi) return make_mpi_call(comm, arguments);
  if (algorithm_ == raw_nccl) return make_nccl_call(equipment_.nccl, comm, arguments);
  return make_tutti_call(comm, arguments, algorithm_ == "auto" ? "" : algorithm_);
}

void Experiment::make_calls() {
  calls_.clear();
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    std::vector<std::unique_ptr<MeasuredCall>> calls;
    for (std::size_t i = 0; i < communicators(); ++i)
      calls.push_back(make_call(i == 0 ? comm_ : equipment_.duplicates[i - 1], slot * communicators() + i));
    calls_.push_back(make_concurrent(std::move(calls)));
  }
}

/// Each communicator's call has data of its own.
void Experiment::fill(std::size_t slot, std::uint64_t iteration) {
  for (std::size_t i = 0; i < communicators(); ++i)
    buffers_.fill(slot * communicators() + i, iteration * communicators() + i);
}

void Experiment::settle() const {
  if (stream_) stream_->wait();
}

double Experiment::timed_call(std::size_t slot) {
  MeasuredCall& call = *calls_[slot];
  team_.meet();
  entered_ = now();
  call.run();
  settle();
  left_ = now();
  return left_ - entered_;
}

/// Nobody may leave a barrier before the last has come: on one node all ranks read the same clock.
void Experiment::verify_barrier() {
  if (comm_.topology().nodes > 1) return;
  const double last = team_.largest(entered_);
  ++checked_;
  if (left_ >= last) return;
  ++wrong_;
  if (fault_.empty()) fault_ = fmt::format("left the barrier {:.9f} s before the last rank came", last - left_);
}

void Experiment::verify(std::size_t slot, std::uint64_t iteration) {
  if (settings_.check == Check::off) return;
  if (point_.operation == Operation::barrier) {
    verify_barrier();
    return;
  }
  ++checked_;
  std::optional<std::string> fault;
  for (std::size_t i = 0; i < communicators() && !fault; ++i)
    fault = buffers_.find_fault(slot * communicators() + i, iteration * communicators() + i);
  if (!fault) return;
  ++wrong_;
  if (fault_.empty()) fault_ = fmt::format("iteration {}: {}", iteration, *fault);
}

void Experiment::warm_up() {
  std::vector<double> seconds;
  for (int i = 0; i < std::max(settings_.warm_up, 1); ++i) {
    fill(0, ++iteration_);
    seconds.push_back(timed_call(0));
    verify(0, iteration_);
  }
  team_.take_largest(seconds);
  estimate_ = seconds.back();
}

/// About eight batches fill a budget.
std::size_t Experiment::batch_size(double budget) const {
  if (slots() > 1) return slots();
  if (settings_.check == Check::all) return 1;
  const double wanted = std::ceil(budget / 8 / std::max(estimate_, 1e-8));
  return static_cast<std::size_t>(std::clamp(wanted, 2.0, static_cast<double>(most_in_a_batch)));
}

/// On the same buffers: the last iteration has new data, and its result is verified.
std::vector<double> Experiment::repeated_batch(std::size_t iterations) {
  std::vector<double> seconds(iterations);
  for (std::size_t i = 0; i < iterations; ++i) {
    if (i + 1 == iterations && settings_.check != Check::off) fill(0, ++iteration_);
    seconds[i] = timed_call(0);
  }
  verify(0, iteration_);
  return seconds;
}

/// Each iteration on buffers and data of its own, which no cache holds.
std::vector<double> Experiment::rotated_batch(std::size_t iterations) {
  if (settings_.reuse == Reuse::fresh) {
    calls_.clear();
    buffers_.renew();
    make_calls();
  }
  const std::uint64_t before = iteration_;
  for (std::size_t i = 0; i < iterations; ++i) fill(i, ++iteration_);
  if (equipment_.evictor) equipment_.evictor->run();
  std::vector<double> seconds(iterations);
  for (std::size_t i = 0; i < iterations; ++i) seconds[i] = timed_call(i);
  for (std::size_t i = 0; i < iterations; ++i) verify(i, before + i + 1);
  return seconds;
}

std::vector<double> Experiment::batch(std::size_t iterations) {
  std::vector<double> seconds = slots() > 1 ? rotated_batch(std::min(iterations, slots())) : repeated_batch(iterations);
  team_.take_largest(seconds);
  return seconds;
}

void Experiment::measure(double budget, int min_iterations, Measurement& result) {
  checked_ = wrong_ = 0;
  fault_.clear();
  warm_up();
  double spent = 0;
  int iterations = 0;
  while ((spent < budget || iterations < min_iterations) && iterations < settings_.max_iterations) {
    const auto left = static_cast<std::size_t>(settings_.max_iterations - iterations);
    for (const double seconds : batch(std::min(batch_size(budget), left))) {
      spent += seconds;
      ++iterations;
      result.seconds.push_back(seconds);
    }
  }
  add_checks(result);
}

void Experiment::add_checks(Measurement& result) {
  result.checked += checked_;
  result.wrong += static_cast<std::uint64_t>(team_.sum(static_cast<double>(wrong_)));
  const std::string fault = team_.first_text(fault_);
  if (result.fault.empty()) result.fault = fault;
  checked_ = wrong_ = 0;
  fault_.clear();
}

bool Experiment::is_queued() const {
  return stream_ && point_.mode == Mode::blocking && point_.operation != Operation::barrier;
}

void Experiment::measure_queued(double budget, Measurement& result) {
  const auto calls = static_cast<int>(std::clamp(std::ceil(budget / std::max(estimate_, 1e-8)), 5.0, 200.0));
  if (settings_.check != Check::off) fill(0, ++iteration_);
  DeviceTimer timer;
  MeasuredCall& call = *calls_.front();
  team_.meet();
  const double begin = now();
  timer.begin(*stream_);
  for (int i = 0; i < calls; ++i) call.run();
  timer.end(*stream_);
  const double launched = now();
  stream_->wait();
  const double done = now();
  std::vector<double> seconds{launched - begin, timer.seconds(), done - begin};
  team_.take_largest(seconds);
  result.queued.push_back({seconds[0] / calls, seconds[1] / calls, seconds[2] / calls});
  verify(0, iteration_);
  add_checks(result);
}

}  // namespace tutti::commbench
