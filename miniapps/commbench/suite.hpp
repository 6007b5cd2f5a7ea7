// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <tutti/communicator.hpp>
#include <vector>

#include "experiment.hpp"
#include "measurement.hpp"
#include "settings.hpp"

namespace tutti::commbench {

/// What was found at one point, by all algorithms.
struct PointResult {
  Point point{};
  std::string chosen{};  ///< what Tutti chooses there by itself
  std::vector<Measurement> measurements{};
};

/// The points that the settings ask for, those left out of which nothing is defined: reductions that the type has not,
/// sizes of less than an element a block. Local.
[[nodiscard]] std::vector<Point> points_of(const Settings& settings, int ranks);

/// Measures points, one after the other. Collective over the communicator.
class Suite {
 public:
  Suite(const Communicator& comm, const Settings& settings);
  [[nodiscard]] PointResult measure(const Point& point);

 private:
  void measure_round(const Point& point, const Shape& shape, bool is_last, Measurement& result);

  const Communicator& comm_;
  const Settings& settings_;
  Equipment equipment_{};
};

}  // namespace tutti::commbench
