// SPDX-License-Identifier: BSD-3-Clause
#include "tools/doctor/path_test.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "backends/list.hpp"
#include "call/context.hpp"
#include "core/stopwatch.hpp"
#include "planner/candidates.hpp"
#include "tools/doctor/gather.hpp"
#include "tools/doctor/test_call.hpp"
#include "tools/race.hpp"

namespace tutti::tools::doctor {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20U;  // of a buffer
constexpr std::size_t rounds = 5;
constexpr int attempts = 3;
constexpr double batch_seconds = 0.3e-3;
constexpr double most_calls = 2000;

struct Way {
  std::string name{};
  double usual = 0;
};

/// A call and a way to make it.
struct Cell {
  Trial trial{};
  Way way{};
  MemoryKind kind = MemoryKind::host;
};

detail::Signature signature_of(const Trial& trial, MemoryKind kind) {
  detail::Signature signature;
  signature.operation = static_cast<Operation>(trial.call);
  signature.memory = kind == MemoryKind::host ? detail::MemoryClass::host : detail::MemoryClass::device;
  signature.type = Datatype(trial.call == Call::allreduce ? DatatypeKind::float32 : DatatypeKind::uint8);
  signature.count = trial.bytes / signature.type.size();
  signature.has_timeout = true;
  return signature;
}

/// The host MPI's own collective has no model: its prediction is that of the best schedule.
Way way_of(const detail::Candidate& candidate) {
  const bool is_known = candidate.measured || candidate.backend != &detail::native_backend;
  return {candidate.name, is_known && std::isfinite(candidate.seconds) ? candidate.seconds : 0};
}

std::vector<Way> ways_of(const Communicator& comm, const Trial& trial, MemoryKind kind) {
  const detail::Machine machine = comm.state()->machine();
  if (!is_operation(trial.call)) {
    const double seconds = machine.costs.message + static_cast<double>(trial.bytes) * machine.costs.message_byte;
    const bool is_known = trial.ranks > 1 && !machine.several_nodes && kind == MemoryKind::host;
    return {{"mpi", is_known ? seconds : 0}};
  }
  if (trial.ranks == 1) return {{}};
  detail::Signature signature = signature_of(trial, kind);
  signature.reproducible = comm.state()->options.reproducible;
  std::vector<Way> ways;
  for (const detail::Candidate& candidate : detail::candidates(signature, machine))
    if (candidate.can_be_chosen() || (candidate.nameable && candidate.backend == &detail::native_backend))
      ways.push_back(way_of(candidate));
  return ways;
}

std::vector<Cell> cells_of(const Communicator& comm, MemoryKind kind, const std::vector<std::size_t>& sizes) {
  std::vector<Cell> cells;
  for (const Call call : tested_calls)
    for (const std::size_t bytes : sizes) {
      const Trial trial{call, bytes, comm.rank(), comm.size()};
      if (output_bytes(trial) > most_bytes) continue;
      for (Way& way : ways_of(comm, trial, kind)) cells.push_back({trial, std::move(way), kind});
    }
  return cells;
}

std::string problem_text(const std::exception& error) {
  const std::string text = error.what();
  return text.empty() ? "an error without a text" : text;
}

/// Times a call in batches. A rank whose call fails makes no more, but comes to all meetings, so that the others do
/// too.
class Timer {
 public:
  /// Where ranks share cores they keep one another from running: then losses do not count.
  Timer(TestCall& call, bool counts_losses) : call_(call), counts_losses_(counts_losses) {}

  /// The batches, of which those count in which all ranks ran. Collective; the same on all ranks.
  [[nodiscard]] detail::tuning::Contender time();
  /// Whether a rank has failed, the same on all ranks, and what this one says of it.
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  double time_batch(int calls);

  TestCall& call_;
  bool counts_losses_;
  bool has_failed_ = false;
  std::string problem_;
};

/// Seconds of a call, on this rank.
double Timer::time_batch(int calls) {
  meet();
  const detail::Stopwatch watch;
  try {
    for (int i = 0; i < calls && problem_.empty(); ++i) call_.run();
  } catch (const std::exception& error) {
    problem_ = problem_text(error);
  }
  return watch.seconds() / calls;
}

detail::tuning::Contender Timer::time() {
  std::vector<double> figures{time_batch(1)};
  take_greatest(figures);
  const double fill = batch_seconds / std::max(figures[0], 1e-9);
  const int calls = static_cast<int>(std::clamp(fill, 1.0, most_calls));
  figures.resize(2 * rounds + 1);  // seconds, then losses, then failures
  const detail::tuning::RunDelay delay;
  for (std::size_t i = 0; i < rounds; ++i) {
    const double before = delay.seconds();
    const detail::Stopwatch watch;
    figures[i] = time_batch(calls);
    figures[rounds + i] = counts_losses_ ? (delay.seconds() - before) / std::max(watch.seconds(), 1e-9) : 0;
  }
  figures.back() = problem_.empty() ? 0 : 1;
  take_greatest(figures);
  has_failed_ = figures.back() > 0;
  detail::tuning::Contender timed;
  timed.seconds.assign(figures.begin(), figures.begin() + rounds);
  timed.lost.assign(figures.begin() + rounds, figures.end() - 1);
  return timed;
}

class PathTester {
 public:
  PathTester(Communicator& comm, const PathEffort& effort, PathTests& tests)
      : comm_(comm), effort_(effort), tests_(tests) {}

  void test(const std::vector<Cell>& cells) {
    for (const Cell& cell : cells) {
      if (!comm_.valid()) return;
      PathResult result{cell.trial.call, cell.trial.ranks == 1 && cell.way.name.empty() ? "copy" : cell.way.name,
                        cell.kind != MemoryKind::host, cell.trial.bytes};
      result.usual = cell.way.usual;
      result.problem = first_problem(check(cell, result));
      if (!result.problem.empty()) renew();
      tests_.results.push_back(std::move(result));
    }
  }

 private:
  /// What this rank finds wrong. Ranks meet first: one that failed before would keep the others waiting.
  std::string check(const Cell& cell, PathResult& result) {
    std::unique_ptr<TestCall> call;
    std::string problem;
    try {
      call = std::make_unique<TestCall>(comm_, cell.trial, cell.way.name, cell.kind);
      call->fill();
    } catch (const std::exception& error) {
      problem = problem_text(error);
    }
    if (std::string first = first_problem(problem); !first.empty()) return problem;
    problem = run_and_compare(*call);
    if (std::string first = first_problem(problem); !first.empty() || !has_time()) return problem;
    problem = time(*call, result);
    return problem.empty() ? fault_of(*call) : problem;
  }

  static std::string run_and_compare(TestCall& call) {
    try {
      call.run();
    } catch (const std::exception& error) {
      return problem_text(error);
    }
    return fault_of(call);
  }

  static std::string fault_of(const TestCall& call) {
    try {
      return call.fault();
    } catch (const std::exception& error) {  // of a copy from the device
      return problem_text(error);
    }
  }

  /// A slow figure is taken again: other work may have disturbed it. All ranks see the same figures. Returns this
  /// rank's problem.
  std::string time(TestCall& call, PathResult& result) const {
    Timer timer(call, !comm_.topology().oversubscribed);
    for (int i = 0; i < attempts; ++i) {
      const auto timed = timer.time();
      if (timer.has_failed()) return timer.problem();
      const double seconds = detail::median(timed.calm_seconds());
      const bool is_disturbed = timed.calm_rounds() == 0;
      if (i == 0 || (result.is_disturbed && !is_disturbed) || seconds < result.seconds) {
        result.seconds = seconds;
        result.is_disturbed = is_disturbed;
      }
      if (!is_disturbed && !is_slow(result, tests_, effort_.slow)) break;
    }
    return {};
  }

  bool has_time() {
    const bool has = from_root(watch_.seconds() < effort_.budget ? 1 : 0) != 0;
    tests_.left += has ? 0 : 1;
    return has;
  }

  /// A communicator is spent after a failure.
  void renew() {
    comm_ = {};
    Made made;
    comm_ = make_communicator(made);
  }

  Communicator& comm_;
  const PathEffort& effort_;
  PathTests& tests_;
  detail::Stopwatch watch_;
};

std::string why_not_compared(const Communicator& comm, const Made& made) {
  if (comm.size() == 1) return "one rank copies: there is no model of it";
  if (comm.topology().oversubscribed) return "ranks share cores";
  if (comm.topology().nodes > 1) return "the network was not calibrated";
  if (!made.costs_report.starts_with("calibrated")) return "the machine was not calibrated";
  if (made.costs_report.find("other work") != std::string::npos) return "other work disturbed the calibration";
  return {};
}

}  // namespace

PathTests test_paths(Communicator& comm, const Made& made, const PathEffort& effort) {
  PathTests tests;
  tests.why_not_compared = why_not_compared(comm, made);
  PathTester tester(comm, effort, tests);
  tester.test(cells_of(comm, MemoryKind::host, effort.sizes));
  if (made.device_prepared && comm.valid()) {
    comm.prepare_device();  // a new one, if a path has failed
    tester.test(cells_of(comm, MemoryKind::device, effort.sizes));
  }
  return tests;
}

}  // namespace tutti::tools::doctor
