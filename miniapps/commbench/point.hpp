// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tutti/operation.hpp>
#include <tutti/reduce_op.hpp>

#include "memory.hpp"
#include "traffic.hpp"

namespace tutti::commbench {

using tutti::all_operations;
using tutti::Operation;

enum class Mode : std::uint8_t { blocking, nonblocking, persistent };

[[nodiscard]] constexpr const char* mode_name(Mode mode) {
  return mode == Mode::blocking ? "blocking" : mode == Mode::nonblocking ? "nonblocking" : "persistent";
}

/// One thing to measure, by every algorithm.
struct Point {
  Operation operation = Operation::allreduce;
  Datatype type{DatatypeKind::float32};
  std::optional<ReduceKind> op{};  ///< of reductions
  std::size_t bytes = 0;           ///< asked for; what is measured may be a little less, see Shape::total
  MemorySpace memory = MemorySpace::host;
  Mode mode = Mode::blocking;
  std::optional<Traffic> traffic{};  ///< messages; `operation` is then alltoallv, whose rules for data they share
};

/// "allreduce", "incast".
[[nodiscard]] constexpr std::string_view name_of(const Point& point) {
  return point.traffic ? traffic_name(*point.traffic) : operation_name(point.operation);
}

/// What a point or an algorithm cannot do here, decided alike on all ranks: reported, and passed over.
class NotApplicable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tutti::commbench
