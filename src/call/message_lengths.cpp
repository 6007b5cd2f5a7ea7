// SPDX-License-Identifier: BSD-3-Clause
#include "call/message_lengths.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::detail {
namespace {

using schedules::Algorithm;
using schedules::at_once;
using schedules::Cost;
using schedules::Distances;
using schedules::goes_both_ways;
using schedules::Reach;

/// More messages of a round than these are single blocks.
constexpr double most_pieces = 3;

/// The messages of a round, in the mean of all ranks. A run of blocks goes in two pieces where it passes rank 0, which
/// that of few ranks does.
double mean_at_once(const Algorithm& algorithm, const Cost& cost) {
  const bool is_run = algorithm.distances == Distances::bine && at_once(cost) <= most_pieces;
  return is_run ? 1 : at_once(cost);
}

}  // namespace

double message_bytes(const Algorithm& algorithm, const Cost& cost) {
  return cost.rounds > 0 ? cost.bytes / (cost.rounds * mean_at_once(algorithm, cost)) : 0;
}

namespace {

/// Whether the bytes of each round are twice those of the next one, or half of them.
bool has_halves(Reach reach) {
  return reach == Reach::growing || reach == Reach::shrinking || reach == Reach::growing_around ||
         reach == Reach::shrinking_around;
}

/// Rounds of messages each of which is twice as long as the next one, or half as long: of one pass over the rounds.
struct Halved {
  double passes = 1;  ///< operations on vectors go there and back
  double rounds = 0;
  double longest = 0;  ///< in bytes
  double of_long = 0;  ///< rounds whose messages have more than `eager` bytes
};

/// Single blocks in messages of their own, of which there are many, are all of one length.
bool are_halved(const Algorithm& algorithm, const Cost& cost) {
  return (algorithm.reach == Reach::growing || algorithm.reach == Reach::shrinking) && at_once(cost) <= most_pieces;
}

Halved halved(const Algorithm& algorithm, const Cost& cost, double eager) {
  const bool has_blocks = is_split(algorithm.operation) || tutti::has_equal_blocks(algorithm.operation);
  Halved made{.passes = has_blocks ? 1.0 : 2.0};
  made.rounds = cost.rounds / made.passes;
  made.longest = message_bytes(algorithm, cost) * made.rounds / (2 - std::exp2(1 - made.rounds));
  made.of_long = std::clamp(std::ceil(std::log2(made.longest / eager)), 0.0, made.rounds);
  return made;
}

/// The part of the rounds whose messages have more than `eager` bytes; `message` has those of the whole algorithm.
double long_part(const Algorithm& algorithm, const Cost& cost, double eager, double message) {
  if (!are_halved(algorithm, cost)) return message > eager ? 1 : 0;
  const Halved pass = halved(algorithm, cost, eager);
  return pass.of_long / pass.rounds;
}

/// The bytes of messages of at most `eager` bytes.
double eager_bytes(const Algorithm& algorithm, const Cost& cost, double eager, double message) {
  if (!are_halved(algorithm, cost)) return message > eager ? 0 : cost.bytes;
  const Halved pass = halved(algorithm, cost, eager);
  return pass.passes * mean_at_once(algorithm, cost) * pass.longest * 2 *
         (std::exp2(-pass.of_long) - std::exp2(-pass.rounds));
}

/// Whether data pass from rank to rank, along trees or around: a rank that waits for its receiver keeps those behind it
/// waiting.
bool passes_on(Reach reach) {
  return reach == Reach::trees || reach == Reach::neighbours || reach == Reach::alternating || reach == Reach::around ||
         reach == Reach::growing_around || reach == Reach::shrinking_around;
}

}  // namespace

double longer(const Algorithm& algorithm, const Cost& cost, const Link& link, double message) {
  if (link.eager == 0 || cost.rounds == 0) return 0;
  return long_part(algorithm, cost, link.eager, message) * (link.long_latency - link.latency);
}

double long_seconds(const Algorithm& algorithm, const Cost& cost, const Link& link, double message) {
  const double more = cost.rounds * longer(algorithm, cost, link, message);
  return passes_on(algorithm.reach) ? std::max(0.0, more) : more;
}

double eager_seconds(const Algorithm& algorithm, const Cost& cost, const Link& link, double message) {
  if (link.eager == 0 || cost.rounds == 0) return 0;
  return (1 + 1 / mean_at_once(algorithm, cost)) * eager_bytes(algorithm, cost, link.eager, message) /
         link.copying_rate;
}

double uneven_seconds(const Algorithm& algorithm, const Cost& cost, const Link& link) {
  if (!has_halves(algorithm.reach) || at_once(cost) <= most_pieces) return 0;
  const double passes = halved(algorithm, cost, 1).passes;
  Cost round{.rounds = 1, .messages = cost.messages / passes};
  double sum = 0;
  for (int i = 0; i < static_cast<int>(cost.rounds / passes); ++i) {
    round.messages /= 2;
    sum += passes * further_seconds(round, link, goes_both_ways(algorithm));
  }
  return std::max(0.0, sum - further_seconds(cost, link, goes_both_ways(algorithm)));
}

double protocol_seconds(const Algorithm& algorithm, const Cost& cost, const Link& link) {
  const double message = message_bytes(algorithm, cost);
  return uneven_seconds(algorithm, cost, link) + eager_seconds(algorithm, cost, link, message) +
         long_seconds(algorithm, cost, link, message);
}

double lost_on_arrival(const Algorithm& algorithm, const Cost& cost, double cached) {
  const double held = cached / 2;
  if (!has_halves(algorithm.reach)) return std::min(1.0, cost.bytes / cost.rounds / held);
  const double longest = mean_at_once(algorithm, cost) * halved(algorithm, cost, held).longest;
  // The mean over rounds of longest, longest / 2, longest / 4, ... bytes, by bytes.
  return longest > held ? 1 - held / longest / 3 : longest / held * 2 / 3;
}

}  // namespace tutti::detail
