// SPDX-License-Identifier: BSD-3-Clause
#include "tools/race.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/barrier.hpp>
#include <tutti/error.hpp>

namespace tutti::detail::tuning {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_calls = 4096;
constexpr int least_rounds = 3;
constexpr int estimates = 3;
constexpr double least_seconds = 1e-9;  // a clock may not resolve a short call

// A rank that waits for its core this share of the time does so because of other programs.
constexpr double most_lost = 0.1;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Seconds of all calls of a batch that follow one another, on this rank.
double time_in_a_row(const Communicator& comm, Contender& contender) {
  barrier(comm);
  const auto begin = Clock::now();
  for (int i = 0; i < contender.calls; ++i) contender.trial->run();
  return seconds_since(begin);
}

/// Seconds of all calls of a batch, each of which begins when all ranks are there.
double time_apart(const Communicator& comm, Contender& contender) {
  double seconds = 0;
  for (int i = 0; i < contender.calls; ++i) {
    barrier(comm);
    const auto begin = Clock::now();
    contender.trial->run();
    seconds += seconds_since(begin);
  }
  return seconds;
}

/// Seconds of a call in a batch of calls, on this rank.
double time_batch(const Communicator& comm, Contender& contender) {
  const double spent = contender.in_a_row ? time_in_a_row(comm, contender) : time_apart(comm, contender);
  return std::max(spent / contender.calls, least_seconds);
}

void take_slowest(const Communicator& comm, std::vector<double>& seconds) {
  allreduce(comm, Buffer(seconds.data(), seconds.size()), ReduceKind::max);
}

/// Seconds of a call in a batch of calls, on the slowest rank.
double estimate(const Communicator& comm, Contender& contender) {
  std::vector<double> seconds{time_batch(comm, contender)};
  take_slowest(comm, seconds);
  return seconds[0];
}

/// Makes the first calls, to find the best time of a call and the number of calls that fill a batch.
void warm_up(const Communicator& comm, Contender& contender, const Effort& effort) {
  contender.trial->run();
  contender.estimate = estimate(comm, contender);
  for (double fill = 0; contender.calls < most_calls; contender.estimate = estimate(comm, contender)) {
    fill = effort.batch_seconds / contender.estimate;
    if (fill < 2.0 * contender.calls) break;
    contender.calls = std::min({most_calls, contender.calls * 16, static_cast<int>(fill)});
  }
  // A single batch may have been disturbed. Long batches matter less, and repeating them is costly.
  const bool is_short = contender.estimate * contender.calls < 4 * effort.batch_seconds;
  for (int i = 1; i < estimates && is_short; ++i)
    contender.estimate = std::min(contender.estimate, estimate(comm, contender));
}

}  // namespace

std::vector<Contender> contenders_for(const Communicator& comm, const Target& target,
                                      const std::vector<std::string>& names, TrialMemory& memory,
                                      const Effort& effort) {
  std::vector<Contender> contenders;
  for (const std::string& name : names) try {
      Contender contender;
      contender.name = name;
      contender.in_a_row = effort.in_a_row;
      contender.trial = std::make_unique<Trial>(comm, target, memory, Options{.algorithm = name});
      warm_up(comm, contender, effort);
      contenders.push_back(std::move(contender));
    } catch (const Error& e) {
      if (e.code() != ErrorCode::invalid_algorithm) throw;
    }
  return contenders;
}

int rounds_for(const std::vector<Contender*>& contenders, const Effort& effort) {
  double round = 0;
  for (const Contender* contender : contenders) round += contender->estimate * contender->calls;
  const double fill = effort.target_seconds / round;
  return static_cast<int>(
      std::clamp(fill, static_cast<double>(std::min(least_rounds, effort.rounds)), static_cast<double>(effort.rounds)));
}

void race(const Communicator& comm, const std::vector<Contender*>& contenders, int rounds) {
  const bool counts_losses = !comm.topology().oversubscribed;
  const std::size_t batches = contenders.size() * static_cast<std::size_t>(rounds);
  std::vector<double> figures(2 * batches);  // seconds, then losses
  const RunDelay delay;
  for (std::size_t round = 0; round < static_cast<std::size_t>(rounds); ++round)
    for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
      const std::size_t i = (turn + round) % contenders.size();
      const std::size_t k = round * contenders.size() + i;
      const double before = delay.seconds();
      const auto begin = Clock::now();
      figures[k] = time_batch(comm, *contenders[i]);
      if (counts_losses)
        figures[batches + k] = (delay.seconds() - before) / std::max(seconds_since(begin), least_seconds);
    }
  take_slowest(comm, figures);
  for (std::size_t k = 0; k < batches; ++k) {
    contenders[k % contenders.size()]->seconds.push_back(figures[k]);
    contenders[k % contenders.size()]->lost.push_back(figures[batches + k]);
  }
}

std::vector<double> Contender::calm_seconds() const {
  std::vector<double> calm;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    if (lost[i] <= most_lost) calm.push_back(seconds[i]);
  return calm.empty() ? seconds : calm;
}

std::size_t Contender::calm_rounds() const {
  return static_cast<std::size_t>(std::count_if(lost.begin(), lost.end(), [](double one) { return one <= most_lost; }));
}

void estimate_again(const Communicator& comm, const std::vector<Contender*>& contenders) {
  for (Contender* contender : contenders)
    contender->estimate = std::min(contender->estimate, estimate(comm, *contender));
}

std::vector<Contender*> hopeful_of(std::vector<Contender>& contenders, const Effort& effort) {
  double best = HUGE_VAL;
  for (const Contender& contender : contenders) best = std::min(best, contender.estimate);
  std::vector<Contender*> hopeful;
  for (Contender& contender : contenders)
    if (contender.estimate <= best * effort.hopeless) hopeful.push_back(&contender);
  return hopeful;
}

}  // namespace tutti::detail::tuning
