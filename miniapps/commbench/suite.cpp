// SPDX-License-Identifier: BSD-3-Clause
#include "suite.hpp"

#include <algorithm>
#include <cmath>
#include <tutti/error.hpp>

#include "experiment.hpp"
#include "names.hpp"
#include "statistics.hpp"

namespace tutti::commbench {
namespace {

std::vector<std::size_t> sizes_of(const Settings& settings, Operation operation, Datatype type, int ranks) {
  if (operation == Operation::barrier) return {0};
  const std::size_t blocks = traits_of(operation).has_one_vector() ? 1 : static_cast<std::size_t>(ranks);
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = settings.low; bytes <= settings.high; bytes *= settings.factor) {
    if (bytes >= blocks * type.size()) sizes.push_back(bytes);
    if (settings.factor < 2) break;
  }
  return sizes;
}

bool is_possible(const Point& point) {
  const bool is_scan = point.operation == Operation::scan || point.operation == Operation::exscan;
  if (is_scan && point.op == ReduceKind::avg) return false;
  return is_defined(*point.op, point.type.kind());
}

void add_points(const Settings& settings, Point point, int ranks, std::vector<Point>& points) {
  for (const std::size_t bytes : sizes_of(settings, point.operation, point.type, ranks)) {
    point.bytes = bytes;
    points.push_back(point);
  }
}

/// A barrier has neither type nor memory: one of each is enough.
template <typename T>
std::vector<T> choices(const std::vector<T>& all, bool matters) {
  return matters ? all : std::vector<T>{all.front()};
}

std::vector<std::string> algorithms_at(const Settings& settings, const std::vector<std::string>& possible) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const std::string& name : settings.algorithms) {
    if (name != "all") add(name);
    if (name == "all") std::for_each(possible.begin(), possible.end(), add);
  }
  return names;
}

bool is_refusal(ErrorCode code) {
  return code == ErrorCode::invalid_algorithm || code == ErrorCode::not_supported || code == ErrorCode::not_built;
}

}  // namespace

std::vector<Point> points_of(const Settings& settings, int ranks) {
  std::vector<Point> points;
  for (const Operation operation : settings.operations) {
    const bool has_data = operation != Operation::barrier;
    for (const Mode mode : settings.modes)
      for (const MemorySpace memory : choices(settings.memory, has_data))
        for (const Datatype type : choices(settings.types, has_data)) {
          Point point{operation, type, std::nullopt, 0, memory, mode};
          if (!traits_of(operation).combines()) add_points(settings, point, ranks, points);
          if (!traits_of(operation).combines()) continue;
          for (const ReduceKind op : settings.ops) {
            point.op = op;
            if (is_possible(point)) add_points(settings, point, ranks, points);
          }
        }
  }
  return points;
}

Suite::Suite(const Communicator& comm, const Settings& settings) : comm_(comm), settings_(settings) {
  if (settings.reuse != Reuse::reuse) equipment_.evictor.emplace(settings.cold_bytes);
}

void Suite::measure_round(const Point& point, const Shape& shape, bool is_last, Measurement& result) {
  if (!result.skipped.empty()) return;
  try {
    Experiment experiment(comm_, settings_, point, shape, result.algorithm, equipment_);
    const double budget = settings_.budget / settings_.rounds;
    const int iterations = (settings_.min_iterations + settings_.rounds - 1) / settings_.rounds;
    experiment.measure(budget, iterations, result);
    if (experiment.is_queued()) experiment.measure_queued(budget / 4, result);
    if (is_last && settings_.overlap && point.mode != Mode::blocking)
      result.overlap = experiment.measure_overlap(statistics_of(result.seconds).p50, settings_.budget);
  } catch (const NotApplicable& reason) {
    result.skipped = reason.what();
  } catch (const Error& error) {
    if (!is_refusal(error.code())) throw;
    result.skipped = error.what();
  }
}

PointResult Suite::measure(const Point& point) {
  PointResult result;
  result.point = point;
  const Shape shape = make_shape(point.operation, point.bytes / point.type.size(),
                                 {comm_.rank(), comm_.size(), settings_.root}, settings_.uneven);
  std::string impossible = why_no_memory(point.memory);
  if (impossible.empty() && is_on_device(point.memory)) comm_.prepare_device();
  const auto possible = algorithm_names(comm_, point, shape, settings_.root, settings_.accumulation);
  if (!possible.empty()) result.chosen = possible.front();
  if (impossible.empty() && settings_.reuse == Reuse::fresh && point.memory != MemorySpace::host)
    impossible = "--buffers fresh is for host memory";
  for (const std::string& algorithm : algorithms_at(settings_, possible)) {
    Measurement measurement;
    measurement.algorithm = algorithm;
    measurement.bytes = shape.total * point.type.size();
    measurement.skipped = impossible;
    result.measurements.push_back(std::move(measurement));
  }
  for (int round = 0; round < settings_.rounds; ++round)
    for (Measurement& measurement : result.measurements)
      measure_round(point, shape, round + 1 == settings_.rounds, measurement);
  return result;
}

}  // namespace tutti::commbench
