// SPDX-License-Identifier: BSD-3-Clause
#include "planner/overrides.hpp"

#include <gtest/gtest.h>

#include <tutti/error.hpp>

namespace tutti::detail::tuning {
namespace {

std::string refusal(std::string_view text, ErrorCode code) {
  try {
    (void)Overrides(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "'" << text << "' was taken";
  return {};
}

TEST(Overrides, NameAlgorithmsByOperation) {
  const Overrides overrides("allreduce:ring, bcast:shm:slots,alltoall:native ,reduce:mpi:binomial,");
  EXPECT_EQ(overrides.of(Operation::allreduce), "ring");
  EXPECT_EQ(overrides.of(Operation::bcast), "shm:slots");
  EXPECT_EQ(overrides.of(Operation::alltoall), "native");
  EXPECT_EQ(overrides.of(Operation::reduce), "mpi:binomial");
  EXPECT_EQ(overrides.of(Operation::scan), "");
}

TEST(Overrides, NothingNamesNothing) {
  EXPECT_EQ(Overrides("").of(Operation::allreduce), "");
  EXPECT_EQ(Overrides(" , ").of(Operation::allreduce), "");
}

TEST(Overrides, MisspeltNamesListTheValidOnesNearestFirst) {
  const std::string algorithm = refusal("allreduce:rign", ErrorCode::invalid_algorithm);
  EXPECT_NE(algorithm.find("TUTTI_ALGORITHM: allreduce has no algorithm 'rign'; valid: ring, "), std::string::npos)
      << algorithm;
  for (const char* name : {"rabenseifner", "mpi:ring", "shm:slots", "native"})
    EXPECT_NE(algorithm.find(name), std::string::npos) << algorithm;
  EXPECT_NE(refusal("bcast:shm:slot", ErrorCode::invalid_algorithm).find("valid: shm:slots"), std::string::npos);
  const std::string operation = refusal("alreduce:ring", ErrorCode::invalid_argument);
  EXPECT_NE(operation.find("no operation 'alreduce'; valid: allreduce, "), std::string::npos) << operation;
  EXPECT_NE(operation.find("alltoallv"), std::string::npos);
}

TEST(Overrides, AnAlgorithmOfAnotherOperationIsNone) {
  refusal("bcast:ring", ErrorCode::invalid_algorithm);
  refusal("allreduce", ErrorCode::invalid_algorithm);
  refusal("allreduce:", ErrorCode::invalid_algorithm);
  refusal(":ring", ErrorCode::invalid_argument);
  refusal("ring", ErrorCode::invalid_argument);
}

TEST(Overrides, OneNameAnOperation) {
  EXPECT_NE(refusal("scan:linear,scan:direct", ErrorCode::invalid_argument).find("twice"), std::string::npos);
}

}  // namespace
}  // namespace tutti::detail::tuning
