// SPDX-License-Identifier: BSD-3-Clause
#include "algorithm_names.hpp"

#include <algorithm>

#include "call/context.hpp"
#include "planner/candidates.hpp"
#include "planner/planner.hpp"

namespace tutti::commbench {
namespace {

detail::CallKind call_kind(Mode mode) {
  if (mode == Mode::blocking) return detail::CallKind::blocking;
  return mode == Mode::nonblocking ? detail::CallKind::nonblocking : detail::CallKind::persistent;
}

std::size_t planned_count(const Point& point, const Shape& shape) {
  switch (point.operation) {
    case Operation::gatherv:
    case Operation::scatterv:
    case Operation::alltoallv:
      return 0;
    case Operation::allgatherv:
    case Operation::reduce_scatter:
      return shape.total;
    default:
      return shape.count;
  }
}

detail::Signature signature_of(const Communicator& comm, const Point& point, const Shape& shape, int root,
                               Accumulation accumulation) {
  detail::Signature signature;
  signature.operation = point.operation;
  signature.kind = call_kind(point.mode);
  signature.memory = is_on_device(point.memory) ? detail::MemoryClass::device : detail::MemoryClass::host;
  signature.type = point.type;
  signature.op = point.op.value_or(ReduceKind::sum);
  signature.reproducible = comm.options().reproducible;
  signature.has_timeout = comm.options().timeout.count() > 0;
  signature.root = root;
  signature.accumulation = accumulation;
  signature.count = planned_count(point, shape);
  return signature;
}

}  // namespace

std::vector<std::string> algorithm_names(const Communicator& comm, const Point& point, const Shape& shape, int root,
                                         Accumulation accumulation) {
  std::vector<std::string> names;
  for (const auto& candidate :
       detail::candidates(signature_of(comm, point, shape, root, accumulation), comm.state()->machine()))
    if (candidate.nameable) names.push_back(candidate.name);
  return names;
}

std::vector<std::string> all_algorithm_names(const Communicator& comm, Operation operation, Place memory) {
  Point point;
  point.memory = memory;
  point.operation = operation;
  Shape shape;
  shape.count = shape.total = 1;
  std::vector<std::string> names;
  for (const auto& candidate :
       detail::candidates(signature_of(comm, point, shape, 0, Accumulation::full), comm.state()->machine()))
    names.push_back(candidate.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tutti::commbench
