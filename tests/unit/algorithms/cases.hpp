// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"

namespace tutti::algorithms {

template <typename Predicate>
std::vector<Algorithm> algorithms_where(Predicate&& predicate) {
  std::vector<Algorithm> all;
  for (int i = 0; i <= static_cast<int>(Operation::alltoallv); ++i)
    for (const Algorithm& algorithm : algorithms_of(static_cast<Operation>(i)))
      if (predicate(algorithm)) all.push_back(algorithm);
  return all;
}

inline void PrintTo(const Algorithm& algorithm, std::ostream* out) {
  *out << operation_name(algorithm.operation) << " " << algorithm.name;
}

inline std::string name_of(const testing::TestParamInfo<Algorithm>& info) {
  return std::string(operation_name(info.param.operation)) + "_" + std::string(info.param.name);
}

}  // namespace tutti::algorithms
