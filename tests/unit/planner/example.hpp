// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "planner/format.hpp"

namespace tutti::detail::tuning::test {

inline Cell cell(Operation operation, CallKind kind, TypeClass type, std::size_t bytes,
                 std::map<std::string, double, std::less<>> seconds) {
  Cell made;
  made.operation = operation;
  made.kind = kind;
  made.type = type;
  made.bytes = bytes;
  made.seconds = std::move(seconds);
  return made;
}

inline Signature signature(Operation operation, std::size_t count, Datatype type = DatatypeKind::float32,
                           CallKind kind = CallKind::blocking) {
  Signature made;
  made.operation = operation;
  made.kind = kind;
  made.type = type;
  made.count = count;
  return made;
}

inline constexpr TypeClass float32{Arithmetic::plain, 4};

inline std::vector<Section> example() {
  Section small;
  small.key = {2, {2}, {2}, "A \"fast\" processor", "MPICH Version: 4.0.2"};
  small.cells = {cell(Operation::allreduce, CallKind::blocking, float32, 4, {{"shm:line", 2.5e-7}, {"native", 7.7e-7}}),
                 cell(Operation::alltoallv, CallKind::nonblocking, {}, 0, {{"mpi:pairwise", 1.0 / 3}})};
  small.links.emplace();
  (*small.links)[LinkLevel::cache] = {.latency = 2e-7,
                                      .overhead = 1.0 / 3e7,
                                      .rate = 1e10,
                                      .several_rate = 2e10,
                                      .shared_rate = 4e10,
                                      .long_latency = 1.0 / 3e6,
                                      .eager = 8192,
                                      .one_way_rate = 1e11 / 3,
                                      .passing_rate = 1e10 / 7};
  small.links->fabric = {{{{2e-7, 1e10}, {1.0 / 3e6, 5e9}}}, 1.0e10 / 3};
  Section large;
  large.key = {8, {4, 4}, {4, 4}, "A \"fast\" processor", "MPICH Version: 4.0.2"};
  return {small, large};
}

}  // namespace tutti::detail::tuning::test
