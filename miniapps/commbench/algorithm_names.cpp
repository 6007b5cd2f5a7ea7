// SPDX-License-Identifier: BSD-3-Clause
#include "names.hpp"

#include <algorithm>
#include <tutti/algorithms.hpp>

namespace tutti::commbench {
namespace {

CallForm form_of(Mode mode) {
  if (mode == Mode::blocking) return CallForm::blocking;
  return mode == Mode::nonblocking ? CallForm::nonblocking : CallForm::persistent;
}

}  // namespace

std::vector<std::string> algorithm_names(const Communicator& comm, const Point& point, const Shape& shape, int root,
                                         Accumulation accumulation) {
  const bool varies = point.operation == Operation::allgatherv || point.operation == Operation::reduce_scatter;
  CallFacts facts{form_of(point.mode), kind_of(point.memory), point.type};
  facts.op = point.op.value_or(ReduceKind::sum);
  facts.count = varies ? shape.total : shape.count;
  facts.root = root;
  facts.accumulation = accumulation;
  std::vector<std::string> names;
  for (const CallAlgorithm& algorithm : algorithms(comm, operation_name(point.operation), facts))
    if (algorithm.can_be_named) names.push_back(algorithm.name);
  return names;
}

std::vector<std::string> all_algorithm_names(const Communicator& comm, Operation operation, MemorySpace memory) {
  std::vector<std::string> names;
  for (const CallAlgorithm& algorithm : algorithms(comm, operation_name(operation), {.memory = kind_of(memory)}))
    names.push_back(algorithm.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tutti::commbench
