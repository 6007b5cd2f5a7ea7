// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/phase_choice.hpp"

#include <algorithm>
#include <limits>

namespace tutti::schedules {
namespace {

bool passes_all_on(Operation operation) { return operation == Operation::bcast || operation == Operation::reduce; }

/// The cost in bytes.
double weight(const Algorithm& algorithm, int size, double bytes, const LevelPace& pace) {
  const Cost cost = cost_of(algorithm, size, bytes, pace.through);
  if (cost.rounds == 0) return 0;
  const Factors factors = factors_of(algorithm, cost, pace);
  const double several = goes_both_ways(algorithm) ? pace.several : pace.one_way;
  const double exchanged = std::min(partners_at_once(algorithm, cost), several);
  const double passed = passing_part(algorithm);
  const double rate = 1 / ((1 - passed) / exchanged + passed / std::max(exchanged, pace.passing));
  const double moving = std::max({1 / rate, senders_of(algorithm, size, bytes, pace.through) / pace.shared,
                                  factors.bytes / std::max(several, rate)});
  const double last = cost.bytes / at_once(cost) * (1 - passed + passed / std::max(1.0, pace.passing));
  return cost.rounds * pace.start * factors.start +
         together(further(cost, pace.start, pace.message, goes_both_ways(algorithm)), cost.bytes * moving,
                  hidden_part(algorithm), last);
}

}  // namespace

const Algorithm& flat_for(Operation operation, int size, double bytes, const LevelPace& pace, KeepOrder keep) {
  const Algorithm* best = &algorithms_of(operation).front();
  double least = std::numeric_limits<double>::infinity();
  for (const Algorithm& algorithm : algorithms_of(operation)) {
    if (!fits(algorithm, size) || (keep == KeepOrder::yes && !algorithm.ordered)) continue;
    if (algorithm.max_size != 0 && size > algorithm.max_size) continue;
    const double cost = weight(algorithm, size, bytes, pace);
    if (cost >= least) continue;
    best = &algorithm;
    least = cost;
  }
  return *best;
}

double senders_of(const Algorithm& algorithm, int size, double bytes, double start) {
  if (goes_both_ways(algorithm)) return size;
  const double busiest = cost_of(algorithm, size, bytes, start).bytes;
  return passes_all_on(algorithm.operation) && busiest > 0 ? std::max(1.0, (size - 1) * bytes / busiest) : 1;
}

double partners_at_once(const Algorithm& algorithm, const Cost& cost) {
  const bool has_one = algorithm.distances == Distances::bine || algorithm.reach == Reach::growing_around ||
                       algorithm.reach == Reach::shrinking_around;
  return has_one ? 1 : at_once(cost);
}

double hidden_part(const Algorithm& algorithm) {
  const bool is_tree_of_blocks = algorithm.reach == Reach::growing && !goes_both_ways(algorithm);
  if (is_tree_of_blocks || (algorithm.operation == Operation::reduce && algorithm.reach == Reach::doubling))
    return hardly_hidden;
  if (algorithm.operation == Operation::reduce && algorithm.reach == Reach::trees) return mostly_hidden / 2;
  if (algorithm.reach != Reach::star) return mostly_hidden;
  return algorithm.operation == Operation::bcast || is_split(algorithm.operation) ? 1 : 0;
}

bool goes_both_ways(const Algorithm& algorithm) {
  if (!has_root(algorithm.operation)) return algorithm.reach != Reach::above;
  return passes_all_on(algorithm.operation) &&
         (algorithm.reach == Reach::all || algorithm.reach == Reach::growing || algorithm.reach == Reach::shrinking ||
          algorithm.reach == Reach::around);
}

double passing_part(const Algorithm& algorithm) {
  const Reach reach = algorithm.reach;
  if (reach == Reach::all || reach == Reach::above || reach == Reach::star) return 0;
  // Half of them go half around the circle, to a rank that sends as many back.
  if (reach == Reach::growing_around) return 0.5;
  const bool is_of_pairs =
      reach == Reach::doubling || reach == Reach::growing || reach == Reach::shrinking || reach == Reach::alternating;
  if (!is_of_pairs || !goes_both_ways(algorithm)) return 1;
  // Half of the bytes go to the root along a tree, or come from there.
  return has_root(algorithm.operation) ? 0.5 : 0;
}

Flow flow_of(const Algorithm& algorithm) {
  const bool all_send = goes_both_ways(algorithm);
  const bool is_bine = algorithm.distances == Distances::bine;
  switch (algorithm.reach) {
    case Reach::all:
    case Reach::above:
      return Flow::everywhere;
    case Reach::star:
      return Flow::alone;
    case Reach::neighbours:
    case Reach::alternating:
      return Flow::neighbours;
    case Reach::trees:
    case Reach::branching:
      return Flow::trees;
    case Reach::doubling:
    case Reach::around:
      return !all_send ? Flow::trees : is_bine ? Flow::bine_doubling : Flow::doubling;
    case Reach::growing:
    case Reach::growing_around:
      return !all_send ? Flow::trees : is_bine ? Flow::bine_growing : Flow::growing;
    case Reach::shrinking:
    case Reach::shrinking_around:
      break;
  }
  return is_bine ? Flow::bine_shrinking : Flow::shrinking;
}

Factors factors_of(const Algorithm& algorithm, const Cost& cost, const LevelPace& pace) {
  const auto factors = [&pace](Flow flow) { return pace.factors[static_cast<std::size_t>(flow)]; };
  const Flow flow = flow_of(algorithm);
  Factors found = factors(flow);
  // Several messages at once take several ways, if the network has them.
  found.bytes =
      std::max(std::min(found.bytes, factors(Flow::everywhere).bytes), found.bytes / partners_at_once(algorithm, cost));
  if (algorithm.operation == Operation::bcast && flow == Flow::growing && cost.bytes > 0) {
    // The root scatters first, so that half of the bytes are alone, and the ranks begin the others one after another.
    const double more = (found.bytes - 1) * cost.bytes / 2 - cost.rounds / 2 * pace.start;
    found.bytes = 1 + std::max(0.0, more) / cost.bytes;
  }
  return found;
}

}  // namespace tutti::schedules
