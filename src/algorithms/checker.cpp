// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/checker.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/simulation.hpp"

namespace tutti::algorithms {
namespace {

void check_order(const Algorithm& algorithm, const Symbol& found, const Expected& expected, const std::string& where) {
  std::vector<Symbol::Run> runs = found.runs;
  const bool needs_order = algorithm.ordered || expected.first == expected.last;
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  int next = expected.first;
  for (const Symbol::Run& run : runs) {
    if (run.first < next) throw Fault(fmt::format("{} has the contribution of rank {} twice", where, run.first));
    if (run.first > next) throw Fault(fmt::format("{} misses the contribution of rank {}", where, next));
    next = run.last + 1;
  }
  if (next <= expected.last) throw Fault(fmt::format("{} misses the contribution of rank {}", where, next));
  if (next > expected.last + 1)
    throw Fault(fmt::format("{} has contributions of ranks above {}", where, expected.last));
  if (needs_order && found.runs.size() > 1) throw Fault(fmt::format("{} is not combined in rank order", where));
}

void check_element(const Algorithm& algorithm, const Symbol& found, const Expected& expected,
                   const std::string& where) {
  if (found.runs.empty()) throw Fault(fmt::format("{} is never written", where));
  if (found.element != expected.element)
    throw Fault(fmt::format("{} is of element {}, should be of {}", where, found.element, expected.element));
  check_order(algorithm, found, expected, where);
  if (algorithm.single_combine && found.combines > 1)
    throw Fault(fmt::format("{} went through {} combining steps instead of one", where, found.combines));
}

void check_results(const Algorithm& algorithm, const World& world, const Simulation& simulation) {
  for (int rank = 0; rank < world.size(); ++rank) {
    const std::vector<Expected> expected = world.expected(rank);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::string where = fmt::format("rank {}: output[{}]", rank, i);
      if (expected[i].is_written)
        check_element(algorithm, simulation.result(rank, i), expected[i], where);
      else if (!simulation.is_untouched(rank, i))
        throw Fault(where + " is written but is not part of the result");
      if (algorithm.operation == Operation::allreduce &&
          simulation.result(rank, i).tree != simulation.result(0, i).tree)
        throw Fault(where + " is not associated as on rank 0");
    }
  }
}

void raise(Cost& most, const Cost& other) {
  most.rounds = std::max(most.rounds, other.rounds);
  most.bytes = std::max(most.bytes, other.bytes);
  most.reduced_bytes = std::max(most.reduced_bytes, other.reduced_bytes);
  most.copied_bytes = std::max(most.copied_bytes, other.copied_bytes);
  most.messages = std::max(most.messages, other.messages);
}

Cost measure(const Schedule& schedule) {
  Cost cost;
  double elements[2] = {0, 0};
  double messages[2] = {0, 0};
  for (const Round& round : schedule.rounds) {
    cost.rounds += round.transfers.empty() ? 0 : 1;
    for (const Transfer& transfer : round.transfers) {
      elements[static_cast<int>(transfer.kind)] += static_cast<double>(transfer.slice.count);
      messages[static_cast<int>(transfer.kind)] += 1;
    }
    for (const Local& local : round.locals)
      (local.kind == Local::Kind::copy ? cost.copied_bytes : cost.reduced_bytes) +=
          static_cast<double>(local.output.count * local.inputs.size());
  }
  cost.bytes = std::max(elements[0], elements[1]);
  cost.messages = std::max(messages[0], messages[1]);
  return cost;
}

}  // namespace

Report check(const Algorithm& algorithm, const World& world, const std::vector<Schedule>& schedules, Memory memory) {
  Report report;
  for (const Schedule& schedule : schedules) raise(report.measured, measure(schedule));
  try {
    Simulation simulation(world, schedules, memory == Memory::in_place);
    simulation.run();
    check_results(algorithm, world, simulation);
  } catch (const Fault& fault) {
    report.ok = false;
    report.problem =
        fmt::format("{} {}, {} ranks, root {}{}: {}", operation_name(algorithm.operation), algorithm.name, world.size(),
                    world.root(), memory == Memory::in_place ? ", in place" : "", fault.what());
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

}  // namespace tutti::algorithms
