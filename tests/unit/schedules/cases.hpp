// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "schedules/registry.hpp"

namespace tutti::schedules {

template <typename Predicate>
std::vector<Algorithm> algorithms_where(Predicate&& predicate) {
  std::vector<Algorithm> all;
  for (int i = 0; i <= static_cast<int>(Operation::alltoallv); ++i)
    for (const Algorithm& algorithm : algorithms_of(static_cast<Operation>(i)))
      if (predicate(algorithm)) all.push_back(algorithm);
  return all;
}

inline std::vector<Algorithm> all_algorithms() {
  return algorithms_where([](const Algorithm&) { return true; });
}

inline void PrintTo(const Algorithm& algorithm, std::ostream* out) {
  *out << operation_name(algorithm.operation) << " " << algorithm.name;
}

inline std::string name_of(const testing::TestParamInfo<Algorithm>& info) {
  return std::string(operation_name(info.param.operation)) + "_" + std::string(info.param.name);
}

/// Whether `count` is of one block a rank, and not of the whole vector.
inline bool has_blocks(Operation operation) {
  switch (operation) {
    case Operation::bcast:
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::scan:
    case Operation::exscan:
      return false;
    default:
      return true;
  }
}

/// Whether rounds and messages grow with the logarithm of the ranks: all others have at least one for each rank.
inline bool is_logarithmic(const Algorithm& algorithm) {
  const Cost cost = cost_of(algorithm, 1024, 0);
  return cost.rounds < 64 && cost.messages < 64;
}

/// Whether it cuts its data into chunks, the more the longer it is.
inline bool is_pipelined(const Algorithm& algorithm) {
  return cost_of(algorithm, 1024, 0).rounds < cost_of(algorithm, 1024, 1e9).rounds;
}

/// The sizes above 130 that a proof covers.
inline std::vector<int> large_sizes(const Algorithm& algorithm) {
  if (!is_logarithmic(algorithm)) return {256, 512};
  // Beyond that, the schedules of all ranks together have too many local copies: as many as there are pairs of ranks.
  if (algorithm.operation == Operation::alltoall || algorithm.operation == Operation::allgatherv)
    return {256, 1000, 1024};
  return {256, 1000, 1024, 4096};
}

}  // namespace tutti::schedules
