// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/rules.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "planner/planner.hpp"

namespace tutti::detail::nccl {
namespace {

constexpr int newest = 22809;

std::vector<DatatypeKind> all_types() {
  std::vector<DatatypeKind> kinds;
  for (auto k = static_cast<int>(DatatypeKind::int8); k < static_cast<int>(DatatypeKind::bytes); ++k)
    kinds.push_back(static_cast<DatatypeKind>(k));
  return kinds;
}

std::vector<ReduceKind> all_ops() {
  std::vector<ReduceKind> kinds;
  for (auto k = static_cast<int>(ReduceKind::sum); k <= static_cast<int>(ReduceKind::user); ++k)
    kinds.push_back(static_cast<ReduceKind>(k));
  return kinds;
}

Signature call(Operation operation, DatatypeKind type = DatatypeKind::float32, ReduceKind op = ReduceKind::sum,
               Accumulation accumulation = Accumulation::full) {
  Signature s;
  s.operation = operation;
  s.memory = MemoryClass::device;
  s.type = type;
  s.op = op;
  s.accumulation = accumulation;
  s.count = 100;
  return s;
}

bool is_inside(DatatypeKind type, ReduceKind op, Accumulation accumulation = Accumulation::full, int version = newest) {
  return reduction_inside(call(Operation::allreduce, type, op, accumulation), version).has_value();
}

std::size_t bytes_of(DataType type) {
  constexpr std::array<std::size_t, 12> bytes{1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return bytes[static_cast<std::size_t>(type)];
}

TEST(WordsToMove, CoverEveryElement) {
  for (const DatatypeKind kind : all_types()) {
    const Words words = words_to_move(kind);
    EXPECT_EQ(words.words * bytes_of(words.type), Datatype(kind).size()) << datatype_name(kind);
  }
  for (const std::size_t n : {1U, 2U, 3U, 12U, 16U, 1000U})
    EXPECT_EQ(words_to_move(Datatype::bytes(n)), (Words{DataType::uint8, n})) << "opaque bytes may lie anywhere";
}

TEST(WordsToMove, AreNoLongerThanTheAlignment) {
  EXPECT_EQ(words_to_move(DatatypeKind::complex64), (Words{DataType::uint32, 2}));
  EXPECT_EQ(words_to_move(DatatypeKind::complex128), (Words{DataType::uint64, 2}));
  EXPECT_EQ(words_to_move(DatatypeKind::float32_int32), (Words{DataType::uint32, 2}));
  EXPECT_EQ(words_to_move(DatatypeKind::float64_int32), (Words{DataType::uint64, 2}));
}

TEST(ReductionInside, TakesWhatNcclDoesAsTheLibraryDoes) {
  for (const DatatypeKind type : {DatatypeKind::int8, DatatypeKind::uint8, DatatypeKind::int32, DatatypeKind::uint32,
                                  DatatypeKind::int64, DatatypeKind::uint64})
    for (const ReduceKind op : {ReduceKind::sum, ReduceKind::prod, ReduceKind::min, ReduceKind::max, ReduceKind::avg})
      EXPECT_TRUE(is_inside(type, op)) << datatype_name(type) << " " << reduce_op_name(op);
  for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::float64})
    for (const ReduceKind op : {ReduceKind::sum, ReduceKind::prod, ReduceKind::avg, ReduceKind::premul_sum})
      EXPECT_TRUE(is_inside(type, op)) << datatype_name(type) << " " << reduce_op_name(op);
}

TEST(ReductionInside, ComplexNumbersArePairs) {
  for (const ReduceKind op : {ReduceKind::sum, ReduceKind::avg, ReduceKind::premul_sum}) {
    const auto made = reduction_inside(call(Operation::allreduce, DatatypeKind::complex128, op), newest);
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->words, (Words{DataType::float64, 2}));
    EXPECT_EQ(made->pre_multiplies, op == ReduceKind::premul_sum);
  }
  EXPECT_FALSE(is_inside(DatatypeKind::complex64, ReduceKind::prod)) << "a product mixes the parts";
}

TEST(ReductionInside, LeavesOutWhatNcclHasNot) {
  for (const DatatypeKind type : {DatatypeKind::int16, DatatypeKind::uint16})
    EXPECT_FALSE(is_inside(type, ReduceKind::sum));
  for (const ReduceKind op : {ReduceKind::land, ReduceKind::lor, ReduceKind::lxor, ReduceKind::band, ReduceKind::bor,
                              ReduceKind::bxor, ReduceKind::user})
    EXPECT_FALSE(is_inside(DatatypeKind::int32, op)) << reduce_op_name(op);
  EXPECT_FALSE(is_inside(DatatypeKind::float32_int32, ReduceKind::minloc));
}

TEST(ReductionInside, RoundingAtEachHopIsOnlyForAccumulationBackend) {
  for (const DatatypeKind type : {DatatypeKind::float16, DatatypeKind::bfloat16, DatatypeKind::float8_e4m3}) {
    EXPECT_FALSE(is_inside(type, ReduceKind::sum)) << datatype_name(type);
    EXPECT_TRUE(is_inside(type, ReduceKind::sum, Accumulation::backend)) << datatype_name(type);
  }
  EXPECT_FALSE(is_inside(DatatypeKind::float8_e4m3, ReduceKind::sum, Accumulation::backend, 22300))
      << "8-bit floats came with 2.24";
}

TEST(ReductionInside, MinimumOfFloatsDropsNanSoOnlyForAccumulationBackend) {
  for (const ReduceKind op : {ReduceKind::min, ReduceKind::max})
    for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::float64, DatatypeKind::float16}) {
      EXPECT_FALSE(is_inside(type, op)) << datatype_name(type);
      EXPECT_TRUE(is_inside(type, op, Accumulation::backend)) << datatype_name(type);
    }
}

TEST(ReductionInside, NeverInTheReproducibleMode) {
  for (const DatatypeKind type : all_types())
    for (const ReduceKind op : all_ops()) {
      Signature s = call(Operation::allreduce, type, op, Accumulation::backend);
      s.reproducible = true;
      EXPECT_FALSE(reduction_inside(s, newest).has_value());
    }
}

TEST(IsDirect, FollowsTheVersion) {
  for (const Operation operation : {Operation::alltoall, Operation::gather, Operation::scatter}) {
    EXPECT_FALSE(is_direct(call(operation), 22700));
    EXPECT_TRUE(is_direct(call(operation), 22800));
  }
  for (const Operation operation : {Operation::barrier, Operation::bcast, Operation::allgather, Operation::allreduce,
                                    Operation::reduce, Operation::reduce_scatter_block})
    EXPECT_TRUE(is_direct(call(operation), oldest_version)) << operation_name(operation);
  for (const Operation operation :
       {Operation::gatherv, Operation::scatterv, Operation::allgatherv, Operation::alltoallv, Operation::scan,
        Operation::exscan, Operation::reduce_scatter})
    EXPECT_FALSE(is_direct(call(operation), newest)) << operation_name(operation);
}

/// What a planner would find: "direct", the preferred schedule, or the reason why there is none.
std::string way_of(const Signature& s, int size, bool has_kernels) {
  if (is_direct(s, newest)) return "direct";
  const auto* algorithm = schedules::find_algorithm(s.operation, preferred_algorithm(s, size));
  if (algorithm == nullptr) return {};
  std::string why;
  return can_group(*algorithm, s, has_kernels, why) ? std::string(algorithm->name) : "not: " + why;
}

TEST(Ways, EveryCallHasOneOrAReason) {
  for (const Operation operation : all_operations)
    for (const DatatypeKind type : all_types())
      for (const ReduceKind op : all_ops())
        for (const Accumulation accumulation : {Accumulation::full, Accumulation::backend})
          for (const bool reproducible : {false, true})
            for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 24U}) {
              if (tutti::combines(operation) && !is_defined(op, type)) continue;
              Signature s = call(operation, type, op, accumulation);
              s.reproducible = reproducible;
              s.count = count;
              for (const int size : {1, 2, 3, 8, 17, 1000}) {
                const std::string way = way_of(s, size, true);
                const bool is_users = tutti::combines(operation) && op == ReduceKind::user;
                ASSERT_EQ(way.starts_with("not: "), is_users) << operation_name(operation) << " " << datatype_name(type)
                                                              << " " << reduce_op_name(op) << ": " << way;
                ASSERT_FALSE(way.empty());
              }
            }
}

TEST(Ways, WithoutKernelsReductionsAreNcclsOrNone) {
  EXPECT_EQ(way_of(call(Operation::allreduce), 4, false), "direct");
  EXPECT_TRUE(way_of(call(Operation::scan), 4, false).starts_with("not: "));
  EXPECT_TRUE(way_of(call(Operation::allreduce, DatatypeKind::int16), 4, false).starts_with("not: "));
  EXPECT_EQ(way_of(call(Operation::alltoallv), 4, false), "direct");
}

TEST(Ways, ExactSumsAreNotNccls) {
  for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::float64, DatatypeKind::bfloat16}) {
    EXPECT_FALSE(is_inside(type, ReduceKind::sum, Accumulation::exact)) << datatype_name(type);
    EXPECT_FALSE(can_widen(call(Operation::allreduce, type, ReduceKind::sum, Accumulation::exact), true));
  }
  EXPECT_TRUE(is_inside(DatatypeKind::int32, ReduceKind::sum, Accumulation::exact)) << "which rounds nothing";
}

TEST(CanGroup, SingleRoundingNeedsASingleCombine) {
  const Signature s = call(Operation::allreduce, DatatypeKind::bfloat16);
  for (const auto& algorithm : schedules::algorithms_of(Operation::allreduce)) {
    std::string why;
    EXPECT_EQ(can_group(algorithm, s, true, why), algorithm.single_combine) << algorithm.name;
    EXPECT_EQ(why.empty(), algorithm.single_combine);
  }
}

TEST(PreferredAlgorithm, SmallVectorsGoDirectly) {
  Signature s = call(Operation::allreduce, DatatypeKind::int16);
  s.count = 8;
  EXPECT_EQ(preferred_algorithm(s, 4), "direct");
  s.count = std::size_t{1} << 24U;
  EXPECT_EQ(preferred_algorithm(s, 4), "scatter_allgather");
  s.count = 8;
  EXPECT_EQ(preferred_algorithm(s, 1000), "scatter_allgather") << "a message from everybody to everybody";
}

TEST(PreferredAlgorithm, LongScansOfOneRoundingStayDirect) {
  Signature s = call(Operation::scan, DatatypeKind::bfloat16);
  s.count = std::size_t{1} << 24U;
  EXPECT_EQ(preferred_algorithm(s, 8), "direct");
  s.type = DatatypeKind::float32;
  EXPECT_EQ(preferred_algorithm(s, 8), "recursive_doubling");
}

}  // namespace
}  // namespace tutti::detail::nccl
