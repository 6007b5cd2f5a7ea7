// SPDX-License-Identifier: BSD-3-Clause
// The planner is a pure function: tried here for machines that are not at hand.
#include "planner/planner.hpp"
#include "backends/list.hpp"
#include "call/plan.hpp"
#include "call/schedule_rules.hpp"
#include "planner/candidates.hpp"

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "machines.hpp"

namespace tutti::detail {
namespace {

using test::operations;
using test::signature;

Machine machine(int rank, int size) {
  Machine m;
  m.rank = rank;
  m.size = size;
  return m;
}

TEST(Planner, EveryRankChoosesTheSame) {
  for (const Operation operation : operations)
    for (const CallKind kind : {CallKind::blocking, CallKind::nonblocking, CallKind::persistent})
      for (const std::size_t count : {0, 1, 1000, 1'000'000})
        for (const int size : {1, 2, 3, 4, 7, 16, 33}) {
          const auto first = make_plan(signature(operation, count, kind), machine(0, size));
          for (int rank = 1; rank < size; ++rank) {
            const auto plan = make_plan(signature(operation, count, kind), machine(rank, size));
            ASSERT_EQ(plan->backend, first->backend);
            ASSERT_EQ(plan->algorithm, first->algorithm);
          }
        }
}

TEST(Planner, BandwidthAlgorithmsForLongVectorsOnly) {
  const auto small = make_plan(signature(Operation::allreduce, 1), machine(0, 16));
  const auto large = make_plan(signature(Operation::allreduce, 10'000'000), machine(0, 16));
  const double bytes = 4e7;
  EXPECT_LE(cost_of(*small->algorithm, 16, 4).rounds, 4);
  EXPECT_GT(cost_of(*small->algorithm, 16, bytes).bytes, cost_of(*large->algorithm, 16, bytes).bytes);
  EXPECT_LE(cost_of(*large->algorithm, 16, bytes).bytes, 2.0 * bytes);
  EXPECT_NE(small->algorithm, large->algorithm);
}

TEST(Planner, RoundingOnceAndReproducibilityNeedOneStep) {
  Signature narrow = signature(Operation::allreduce, 5'000'000);
  narrow.type = DatatypeKind::bfloat16;
  EXPECT_TRUE(make_plan(narrow, machine(1, 4))->algorithm->single_combine);
  narrow.accumulation = Accumulation::backend;
  EXPECT_FALSE(needs_single_combine(narrow));
  Signature wide = signature(Operation::allreduce, 5'000'000);
  wide.reproducible = true;
  EXPECT_TRUE(make_plan(wide, machine(1, 4))->algorithm->single_combine);
  wide.algorithm = "ring";
  EXPECT_THROW((void)make_plan(wide, machine(1, 4)), Error);
}

TEST(Planner, ExactSumsNeedOneStepAndAreNotTheHostMpis) {
  Signature call = signature(Operation::allreduce, 5'000'000);
  call.type = DatatypeKind::float64;
  call.accumulation = Accumulation::exact;
  EXPECT_TRUE(needs_single_combine(call));
  EXPECT_TRUE(make_plan(call, machine(1, 4))->algorithm->single_combine);
  for (const Candidate& way : candidates(call, machine(1, 4)))
    EXPECT_FALSE(way.name == "native" && way.nameable) << "which rounds at each step";
  call.op = ReduceKind::max;
  EXPECT_FALSE(needs_single_combine(call));
  call.op = ReduceKind::sum;
  call.type = DatatypeKind::int64;
  EXPECT_FALSE(needs_single_combine(call));
}

TEST(Planner, OperationsThatRoundNeedOneStepForSmallFloats) {
  for (const ReduceKind op :
       {ReduceKind::sum, ReduceKind::prod, ReduceKind::avg, ReduceKind::premul_sum, ReduceKind::min, ReduceKind::max})
    for (const DatatypeKind type : {DatatypeKind::float16, DatatypeKind::bfloat16, DatatypeKind::float8_e4m3,
                                    DatatypeKind::float8_e5m2, DatatypeKind::float32}) {
      Signature call = signature(Operation::allreduce, 100);
      call.op = op;
      call.type = type;
      const bool rounds = op != ReduceKind::min && op != ReduceKind::max;
      EXPECT_EQ(needs_single_combine(call), rounds && type != DatatypeKind::float32)
          << reduce_op_name(op) << " of " << datatype_name(type);
    }
}

TEST(Planner, OrderIsKeptWhereTheOperationDoesNotCommute) {
  Signature s = signature(Operation::allreduce, 5'000'000);
  s.op = ReduceKind::user;
  s.commutative = false;
  EXPECT_TRUE(make_plan(s, machine(2, 7))->algorithm->ordered);
}

TEST(Planner, HostsOwnOnlyWhereItMeansTheSame) {
  Signature s = signature(Operation::allreduce, 1'000'000, CallKind::nonblocking);
  EXPECT_EQ(make_plan(s, machine(0, 8))->backend, &native_backend);
  s.op = ReduceKind::max;  // the host's maximum of a NaN differs from rank to rank
  EXPECT_EQ(make_plan(s, machine(0, 8))->backend, &mpi_backend);
  s.type = DatatypeKind::int32;
  EXPECT_EQ(make_plan(s, machine(0, 8))->backend, &native_backend);
  s.kind = CallKind::persistent;
  EXPECT_EQ(make_plan(s, machine(0, 8))->backend, &mpi_backend);
  s.algorithm = "native";
  EXPECT_THROW((void)make_plan(s, machine(0, 8)), Error);
}

TEST(Planner, BlockingInsideTheHostOnlyByPermission) {
  const Signature s = signature(Operation::allreduce, 1000);
  Machine m = machine(0, 4);
  EXPECT_EQ(make_plan(s, m)->backend, &mpi_backend);
  m.native_blocking = true;
  EXPECT_EQ(make_plan(s, m)->backend, &native_backend);
  m.oversubscribed = true;
  EXPECT_EQ(make_plan(s, m)->backend, &mpi_backend);
}

TEST(Planner, MisspeltNamesListTheValidOnes) {
  Signature s = signature(Operation::allgather, 10);
  s.algorithm = "brukc";
  try {
    (void)make_plan(s, machine(0, 4));
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_algorithm);
    for (const char* name : {"brukc", "bruck", "ring", "direct", "native"})
      EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << name;
  }
  s.algorithm = "mpi:bruck";
  EXPECT_EQ(make_plan(s, machine(0, 4))->algorithm->name, "bruck");
}

}  // namespace
}  // namespace tutti::detail
