// SPDX-License-Identifier: BSD-3-Clause
#include "call/fabric.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "schedules/distances.hpp"

namespace tutti::detail {
namespace {

using schedules::Factors;
using schedules::Flow;

constexpr auto rate = &Fabric::Distance::rate;
constexpr auto latency = &Fabric::Group::latency;

/// All distances against the best figures.
class Relative {
 public:
  explicit Relative(const Fabric& fabric)
      : fabric_(fabric),
        measured_(distances_of(fabric)),
        farthest_(farthest_latency(fabric)),
        best_(best_rate(fabric)) {}

  [[nodiscard]] double start(std::size_t digit) const {
    return measured_ > 0 ? nearest_to(digit).latency / farthest_ : 1;
  }
  [[nodiscard]] double bytes(std::size_t digit) const {
    return measured_ > 0 ? std::max(1.0, best_ / nearest_to(digit).rate) : 1;
  }
  /// While each node exchanges with its partner of Bine's step. Fewer links between groups of nodes are in use at once
  /// than at a distance as long as the group, at which all messages leave it.
  [[nodiscard]] double bytes_of_bine(std::size_t step, std::size_t rounds) const {
    const double distance = schedules::bine_distance(static_cast<int>(step));
    double most = 1;
    for (std::size_t digit = 0; digit < rounds; ++digit)
      most = std::max(most, std::min(1.0, std::ldexp(distance, -static_cast<int>(digit))) * bytes(digit));
    return most;
  }
  [[nodiscard]] double everywhere() const {
    return fabric_.everywhere > 0 ? std::max(1.0, best_ / fabric_.everywhere) : 1;
  }

 private:
  [[nodiscard]] const Fabric::Distance& nearest_to(std::size_t digit) const {
    return fabric_.at[std::min(digit, measured_ - 1)];
  }

  const Fabric& fabric_;
  std::size_t measured_;
  double farthest_;
  double best_;
};

/// The mean over rounds at distances that double, of which each counts `growth` times as much as the one before.
template <typename Value>
double mean(std::size_t rounds, double growth, const Value& value) {
  double sum = 0;
  double weights = 0;
  double weight = 1;
  for (std::size_t round = 0; round < rounds; ++round, weight *= growth) {
    sum += weight * value(round);
    weights += weight;
  }
  return rounds > 0 ? sum / weights : 1;
}

}  // namespace

std::size_t distances_of(const Fabric& fabric) {
  return static_cast<std::size_t>(std::ranges::find(fabric.at, 0.0, rate) - fabric.at.begin());
}

bool is_measured_by_group(const Fabric& fabric) { return std::ranges::max(fabric.by_group, {}, latency).latency > 0; }

double best_rate(const Fabric& fabric) {
  return std::max(fabric.within_group, std::ranges::max(fabric.at, {}, rate).rate);
}

double farthest_latency(const Fabric& fabric) {
  return std::max(std::ranges::max(fabric.at, {}, &Fabric::Distance::latency).latency,
                  std::ranges::max(fabric.by_group, {}, latency).latency);
}

std::array<Factors, schedules::flows> factors_by_flow(const Fabric& fabric, int nodes) {
  const Relative relative(fabric);
  const auto start = [&relative](std::size_t round) { return relative.start(round); };
  const auto bytes = [&relative](std::size_t round) { return relative.bytes(round); };
  const auto rounds = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(std::max(nodes, 1) - 1)));
  const auto bytes_of_bine = [&](std::size_t round) { return relative.bytes_of_bine(round, rounds); };
  const double mean_start = mean(rounds, 1, start);
  std::array<Factors, schedules::flows> by_flow{};
  const auto set = [&by_flow](Flow flow, const Factors& factors) { by_flow[static_cast<std::size_t>(flow)] = factors; };
  set(Flow::trees, {mean_start, 1});
  // The next node's number differs in the first digit alone in half of the cases, up to the second in a quarter, ...
  set(Flow::neighbours, {mean(rounds, 0.5, start), relative.bytes(0)});
  set(Flow::doubling, {mean_start, mean(rounds, 1, bytes)});
  set(Flow::growing, {mean_start, mean(rounds, 2, bytes)});
  set(Flow::shrinking, {mean_start, mean(rounds, 0.5, bytes)});
  set(Flow::bine_doubling, {mean_start, mean(rounds, 1, bytes_of_bine)});
  set(Flow::bine_growing, {mean_start, mean(rounds, 2, bytes_of_bine)});
  set(Flow::bine_shrinking, {mean_start, mean(rounds, 0.5, bytes_of_bine)});
  set(Flow::everywhere, {1, relative.everywhere()});
  return by_flow;
}

}  // namespace tutti::detail
