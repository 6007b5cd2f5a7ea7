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

std::vector<std::size_t> sizes_of(const Settings& settings, const Point& point, int ranks) {
  if (point.operation == Operation::barrier) return {0};
  const bool is_whole = point.traffic || traits_of(point.operation).has_one_vector();
  const std::size_t blocks = is_whole ? 1 : static_cast<std::size_t>(ranks);
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = settings.low; bytes <= settings.high; bytes *= settings.factor) {
    if (bytes >= blocks * point.type.size()) sizes.push_back(bytes);
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
  for (const std::size_t bytes : sizes_of(settings, point, ranks)) {
    point.bytes = bytes;
    points.push_back(point);
  }
}

/// A barrier has neither type nor memory: one of each is enough.
template <typename T>
std::vector<T> choices(const std::vector<T>& all, bool matters) {
  return matters ? all : std::vector<T>{all.front()};
}

void add_traffic(const Settings& settings, int ranks, std::vector<Point>& points) {
  if (ranks < 2) return;
  for (const Traffic traffic : settings.traffic)
    for (const Mode mode : settings.modes)
      for (const MemorySpace memory : settings.memory)
        for (const Datatype type : settings.types)
          add_points(settings, {Operation::alltoallv, type, std::nullopt, 0, memory, mode, traffic}, ranks, points);
}

Shape shape_at(const Settings& settings, const Point& point, const World& world) {
  const std::size_t elements = point.bytes / point.type.size();
  return point.traffic ? make_traffic_shape(*point.traffic, elements, world)
                       : make_shape(point.operation, elements, world, settings.splits);
}

/// Why a call cannot be made as the settings want it.
std::string why_impossible(const Settings& settings, const Point& point) {
  if (settings.reuse == Reuse::fresh && point.memory != MemorySpace::host) return "--buffers fresh is for host memory";
  if (!settings.in_place) return {};
  if (point.traffic) return "--in-place: messages have two buffers";
  if (point.operation == Operation::alltoallv && !settings.splits.are_symmetric())
    return "--in-place: alltoallv takes from a rank as much as it gives to it; pass --splits even or uneven";
  return {};
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
  add_traffic(settings, ranks, points);
  return points;
}

Suite::Suite(const Communicator& comm, const Settings& settings) : comm_(comm), settings_(settings) {
  if (settings.reuse != Reuse::reuse) equipment_.evictor.emplace(settings.cold_bytes);
  if (settings.beside != Beside::nothing) equipment_.computation = make_computation(settings.beside);
  for (int i = 1; i < settings.communicators; ++i)
    equipment_.duplicates.push_back(Communicator::duplicate(comm.mpi_handle()));
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
    if (is_last && equipment_.computation && point.mode != Mode::blocking)
      experiment.measure_together(statistics_of(result.seconds).p50, settings_.budget, result);
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
  const Shape shape = shape_at(settings_, point, {comm_.rank(), comm_.size(), settings_.root});
  std::string impossible = why_no_memory(point.memory);
  if (impossible.empty() && is_on_device(point.memory)) comm_.prepare_device();
  const auto possible = point.traffic ? std::vector<std::string>{"auto"}
                                      : algorithm_names(comm_, point, shape, settings_.root, settings_.accumulation);
  if (!possible.empty()) result.chosen = point.traffic ? "point-to-point" : possible.front();
  if (impossible.empty()) impossible = why_impossible(settings_, point);
  for (const std::string& algorithm : algorithms_at(settings_, possible)) {
    Measurement measurement;
    measurement.algorithm = algorithm;
    measurement.bytes = shape.total * point.type.size();
    measurement.communicators = settings_.communicators;
    measurement.skipped = impossible;
    result.measurements.push_back(std::move(measurement));
  }
  for (int round = 0; round < settings_.rounds; ++round)
    for (Measurement& measurement : result.measurements)
      measure_round(point, shape, round + 1 == settings_.rounds, measurement);
  return result;
}

}  // namespace tutti::commbench
