// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

#include "call/context.hpp"
#include "call/known_calls.hpp"
#include "planner/candidates.hpp"
#include "planner/planner.hpp"

namespace tutti::test {

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// What making a communicator throws on this rank: "code: text"; empty where it succeeds.
inline std::string factory_error() {
  try {
    (void)Communicator::duplicate(MPI_COMM_WORLD);
  } catch (const Error& e) {
    return std::to_string(static_cast<int>(e.code())) + ": " + e.what();
  }
  return {};
}

/// A text is the same on all ranks.
inline void expect_same_everywhere(const std::string& text) {
  constexpr std::size_t length = 4096;
  std::vector<char> mine(length, '\0');
  std::copy_n(text.begin(), std::min(text.size(), length), mine.begin());
  std::vector<char> first = mine;
  MPI_Bcast(first.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(mine, first) << text << "\nbut on rank 0: " << first.data();
}

inline detail::Signature allreduce_signature(std::size_t count, detail::CallKind kind = detail::CallKind::blocking) {
  detail::Signature signature;
  signature.operation = Operation::allreduce;
  signature.kind = kind;
  signature.type = DatatypeKind::float32;
  signature.count = count;
  return signature;
}

/// An allreduce whose result is checked.
inline void expect_allreduce_works(const Communicator& comm, std::size_t count) {
  std::vector<float> x(count, static_cast<float>(comm.rank() + 1));
  allreduce(comm, x, sum);
  EXPECT_EQ(x, std::vector<float>(count, static_cast<float>(comm.size() * (comm.size() + 1)) / 2));
}

}  // namespace tutti::test
