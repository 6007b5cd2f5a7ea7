// SPDX-License-Identifier: BSD-3-Clause
#include "support/proof/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "support/proof/critical_path.hpp"
#include "support/proof/simulation.hpp"

namespace tutti::schedules {
namespace {

/// Checks elements of results. The same terms come up for many elements and on many ranks: each is looked at once.
class Judge {
 public:
  Judge(const Algorithm& algorithm, const Terms& terms) : algorithm_(algorithm), terms_(terms) {}

  void check(const Symbol& found, const Expected& expected, int rank, std::size_t index) {
    const auto where = [&] { return fmt::format("rank {}: output[{}]", rank, index); };
    if (found.term == Terms::nothing) throw Fault(where() + " is never written");
    if (found.element != expected.element)
      throw Fault(fmt::format("{} is of element {}, should be of {}", where(), found.element, expected.element));
    if (expected.first == expected.last && found.term == Terms::of_rank(expected.first)) return;
    if (found.term >= right_.size()) right_.resize(found.term + 1, {1, 0});
    Terms::Run& right = right_[found.term];
    if (right == Terms::Run{expected.first, expected.last}) return;
    check_term(found.term, expected, where());
    right = {expected.first, expected.last};
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
  std::vector<Terms::Run> right_;  ///< by term: the ranks that it was found to be of
};

void check_results(const Algorithm& algorithm, const World& world, const Simulation& simulation) {
  Judge judge(algorithm, simulation.terms());
  for (int rank = 0; rank < world.size(); ++rank) {
    const std::vector<Expected> expected = world.expected(rank);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].is_written)
        judge.check(simulation.result(rank, i), expected[i], rank, i);
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

/// Whether input and output are one memory on any rank: elsewhere a check in place is that in separate memory again.
bool has_in_place(const World& world, const std::vector<Schedule>& schedules) {
  for (int rank = 0; rank < world.size(); ++rank)
    if (schedules[static_cast<std::size_t>(rank)].alias_safe && world.in_place(rank)) return true;
  return false;
}

/// Which messages meet is the same in every memory.
Report check_in(const Algorithm& algorithm, const World& world, const std::vector<Schedule>& schedules,
                std::initializer_list<Memory> memories, const Order& order) {
  Report report;
  report.measured = busiest_rank(schedules);
  const char* where = "";
  try {
    std::optional<Matching> matching;
    for (const Memory memory : memories) {
      where = memory == Memory::in_place ? ", in place" : "";
      Simulation simulation(world, schedules, memory == Memory::in_place);
      if (!matching) matching.emplace(schedules, world.node_of());
      simulation.run(*matching, order);
      check_results(algorithm, world, simulation);
    }
  } catch (const Fault& fault) {
    report.ok = false;
    report.problem = fmt::format("{}{}: {}", title(algorithm, world), where, fault.what());
  }
  return report;
}

}  // namespace

Report check(const Algorithm& algorithm, const World& world, const std::vector<Schedule>& schedules, Memory memory,
             const Order& order) {
  return check_in(algorithm, world, schedules, {memory}, order);
}

Report check(const Algorithm& algorithm, const World& world) {
  const std::vector<Schedule> schedules = world.schedules(algorithm);
  if (!has_in_place(world, schedules)) return check(algorithm, world, schedules, Memory::separate);
  return check_in(algorithm, world, schedules, {Memory::separate, Memory::in_place}, {});
}

Report check_cost(const Algorithm& algorithm, const World& world) {
  Report report;
  try {
    const std::vector<Schedule> schedules = world.schedules(algorithm);
    report.measured = critical_path(schedules, Matching(schedules));
    const auto unit = static_cast<double>(world.element_size());
    for (double* bytes : {&report.measured.bytes, &report.measured.reduced_bytes, &report.measured.copied_bytes})
      *bytes *= unit;
    const Cost formula = cost_of(algorithm, world.size(), world.bytes());
    report.problem = differences(report.measured, formula);
  } catch (const Fault& fault) {
    report.problem = fmt::format(": {}", fault.what());
  }
  report.ok = report.problem.empty();
  if (!report.ok) report.problem = title(algorithm, world) + report.problem;
  return report;
}

}  // namespace tutti::schedules
