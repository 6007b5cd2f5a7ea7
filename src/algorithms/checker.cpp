// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "algorithms/critical_path.hpp"
#include "algorithms/simulation.hpp"

namespace tutti::algorithms {
namespace {

/// Checks one rank's terms; the same ones come up for many elements.
class Judge {
 public:
  Judge(const Algorithm& algorithm, const Terms& terms, std::string rank)
      : algorithm_(algorithm), terms_(terms), rank_(std::move(rank)) {}

  void check(const Symbol& found, const Expected& expected, std::size_t index) {
    if (found.term == Terms::nothing) throw Fault(fmt::format("{}: output[{}] is never written", rank_, index));
    if (found.element != expected.element)
      throw Fault(fmt::format("{}: output[{}] is of element {}, should be of {}", rank_, index, found.element,
                              expected.element));
    if (found.term == last_ && expected.first == first_of_last_ && expected.last == last_of_last_) return;
    check_term(found.term, expected, fmt::format("{}: output[{}]", rank_, index));
    last_ = found.term;
    first_of_last_ = expected.first;
    last_of_last_ = expected.last;
  }

 private:
  void check_term(Terms::Id id, const Expected& expected, const std::string& where) const {
    std::vector<Terms::Run> runs(terms_.runs(id).begin(), terms_.runs(id).end());
    std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    int next = expected.first;
    for (const Terms::Run& run : runs) {
      if (run.first < next) throw Fault(fmt::format("{} has the contribution of rank {} twice", where, run.first));
      if (run.first > next) throw Fault(fmt::format("{} misses the contribution of rank {}", where, next));
      next = run.last + 1;
    }
    if (next <= expected.last) throw Fault(fmt::format("{} misses the contribution of rank {}", where, next));
    if (next > expected.last + 1)
      throw Fault(fmt::format("{} has contributions of ranks above {}", where, expected.last));
    if (algorithm_.ordered && runs.size() > 1) throw Fault(fmt::format("{} is not combined in rank order", where));
    if (algorithm_.single_combine && terms_.combines(id) > 1)
      throw Fault(fmt::format("{} went through {} combining steps instead of one", where, terms_.combines(id)));
  }

  const Algorithm& algorithm_;
  const Terms& terms_;
  std::string rank_;
  Terms::Id last_ = Terms::nothing;
  int first_of_last_ = 0;
  int last_of_last_ = 0;
};

void check_results(const Algorithm& algorithm, const World& world, const Simulation& simulation) {
  for (int rank = 0; rank < world.size(); ++rank) {
    const std::vector<Expected> expected = world.expected(rank);
    Judge judge(algorithm, simulation.terms(), fmt::format("rank {}", rank));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].is_written)
        judge.check(simulation.result(rank, i), expected[i], i);
      else if (!simulation.is_untouched(rank, i))
        throw Fault(fmt::format("rank {}: output[{}] is written but is not part of the result", rank, i));
      if (algorithm.operation == Operation::allreduce &&
          simulation.result(rank, i).term != simulation.result(0, i).term)
        throw Fault(fmt::format("rank {}: output[{}] is not associated as on rank 0", rank, i));
    }
  }
}

/// A formula may differ from what was counted by rounding alone.
bool is_same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)}); }

std::string differences(const Cost& counted, const Cost& formula) {
  std::string text;
  const auto compare = [&text](const char* what, double is, double says) {
    if (!is_same(is, says)) text += fmt::format("; {} {}, the formula says {}", what, is, says);
  };
  compare("rounds", counted.rounds, formula.rounds);
  compare("bytes", counted.bytes, formula.bytes);
  compare("reduced bytes", counted.reduced_bytes, formula.reduced_bytes);
  compare("copied bytes", counted.copied_bytes, formula.copied_bytes);
  compare("messages", counted.messages, formula.messages);
  return text;
}

std::string title(const Algorithm& algorithm, const World& world) {
  return fmt::format("{} {}, {} ranks, root {}", operation_name(algorithm.operation), algorithm.name, world.size(),
                     world.root());
}

}  // namespace

Report check(const Algorithm& algorithm, const World& world, const std::vector<Schedule>& schedules, Memory memory,
             const Order& order) {
  Report report;
  report.measured = busiest_rank(schedules);
  try {
    Simulation simulation(world, schedules, memory == Memory::in_place);
    simulation.run(Matching(schedules), order);
    check_results(algorithm, world, simulation);
  } catch (const Fault& fault) {
    report.ok = false;
    report.problem =
        fmt::format("{}{}: {}", title(algorithm, world), memory == Memory::in_place ? ", in place" : "", fault.what());
  }
  return report;
}

Report check(const Algorithm& algorithm, const World& world) {
  const std::vector<Schedule> schedules = world.schedules(algorithm);
  const Report separate = check(algorithm, world, schedules, Memory::separate);
  if (!separate.ok) return separate;
  Report in_place = check(algorithm, world, schedules, Memory::in_place);
  in_place.measured = separate.measured;
  return in_place;
}

Report check_cost(const Algorithm& algorithm, const World& world) {
  Report report;
  try {
    const std::vector<Schedule> schedules = world.schedules(algorithm);
    report.measured = critical_path(schedules, Matching(schedules));
    const auto unit = static_cast<double>(world.element_size());
    for (double* bytes : {&report.measured.bytes, &report.measured.reduced_bytes, &report.measured.copied_bytes})
      *bytes *= unit;
    const Cost formula = algorithm.cost(world.size(), world.bytes());
    report.problem = differences(report.measured, formula);
  } catch (const Fault& fault) {
    report.problem = fmt::format(": {}", fault.what());
  }
  report.ok = report.problem.empty();
  if (!report.ok) report.problem = title(algorithm, world) + report.problem;
  return report;
}

}  // namespace tutti::algorithms
