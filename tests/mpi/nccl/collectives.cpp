// SPDX-License-Identifier: BSD-3-Clause
// Every collective on device memory by every way of NCCL gives what host memory gives.
#include <complex>

#include "mpi/nccl/twins.hpp"

namespace tutti::test {
namespace {

constexpr Operation movements[] = {Operation::bcast,      Operation::gather,   Operation::gatherv,
                                   Operation::scatter,    Operation::scatterv, Operation::allgather,
                                   Operation::allgatherv, Operation::alltoall, Operation::alltoallv};
constexpr Operation reductions[] = {Operation::reduce,         Operation::allreduce, Operation::reduce_scatter_block,
                                    Operation::reduce_scatter, Operation::scan,      Operation::exscan};

/// Turns through the ways of calling, alike on all ranks.
class Turn {
 public:
  Way next() { return ways[place_++ % std::size(ways)]; }

 private:
  std::size_t place_ = 0;
};

/// A call of small whole numbers between nodes, which every hierarchical schedule makes, but those that ask for counts.
void expect_hierarchical(Operation operation) {
  const Communicator& comm = device_communicators().front();
  if (comm.topology().nodes == 1) GTEST_SKIP() << "all ranks are on one node";
  Turn turn;
  Options options;
  for (const schedules::Algorithm* algorithm : hierarchical_ways(operation, comm))
    for (int root = 0; root < comm.size(); ++root) {
      options.algorithm = "nccl:" + std::string(algorithm->name);
      const Twin call = twin(operation, {comm, DatatypeKind::int32, sum, 130, root, false});
      EXPECT_EQ(run_twin(call, comm, options, turn.next()), !algorithm->tells_counts) << options.algorithm;
    }
}

class Movement : public ::testing::TestWithParam<Operation> {};

TEST_P(Movement, EqualsHostMemoryByEveryWay) {
  Turn turn;
  for (const Communicator& comm : device_communicators())
    for (const std::string& algorithm : nccl_ways(GetParam(), comm)) {
      Options options;
      options.algorithm = algorithm;
      for (const std::size_t count : {0U, 1U, 7U, 1000U})
        for (const bool in_place : {false, true})
          if (!run_twin(twin(GetParam(), {comm, DatatypeKind::float32, sum, count, comm.size() - 1, in_place}), comm,
                        options, turn.next()))
            break;
    }
}

TEST_P(Movement, GoesBetweenNodesByHierarchicalSchedules) { expect_hierarchical(GetParam()); }

TEST_P(Movement, TakesEveryDatatypeAndRoot) {
  const Communicator& comm = device_communicators().front();
  Turn turn;
  for (int root = 0; root < comm.size(); ++root)
    for (const Datatype type : {Datatype(DatatypeKind::int8), Datatype(DatatypeKind::float16),
                                Datatype(DatatypeKind::complex64), Datatype(DatatypeKind::complex128),
                                Datatype(DatatypeKind::float64_int32), Datatype::bytes(12), Datatype::bytes(1)})
      EXPECT_TRUE(run_twin(twin(GetParam(), {comm, type, sum, 33, root, false}), comm, {}, turn.next()));
}

TEST_P(Movement, WorksInEveryWayOfCalling) {
  const Communicator& comm = device_communicators().front();
  for (const Way way : ways)
    for (const bool in_place : {false, true})
      EXPECT_TRUE(run_twin(twin(GetParam(), {comm, DatatypeKind::float64, sum, 257, 0, in_place}), comm, {}, way));
}

TEST(MovementInPlace, TheRootOfAScatterKeepsItsBlock) {
  for (const Communicator& comm : device_communicators())
    for (const char* algorithm : {"", "nccl:linear", "nccl:binomial"})
      for (int root = 0; root < comm.size(); ++root) {
        const bool is_root = comm.rank() == root;
        const auto size = static_cast<std::size_t>(comm.size());
        const std::vector<std::byte> blocks = pattern_bytes(DatatypeKind::int32, 10 * size, root, 0, 0);
        const DeviceMemory send(is_root ? blocks.size() : 0);
        const DeviceMemory recv(is_root ? 0 : 40);
        Options options;
        options.stream = user_stream();
        options.algorithm = algorithm;
        if (is_root) send.fill_on(machine().stream, blocks);
        const ConstBuffer from(send.data(), send.size() / 4, DatatypeKind::int32, MemoryKind::device);
        Buffer to(recv.data(), 10, DatatypeKind::int32, MemoryKind::device);
        if (is_root) to = in_place;
        scatter(comm, from, to, root, options);
        machine().drain();
        const auto own = blocks.begin() + 40 * comm.rank();
        if (is_root) {
          EXPECT_EQ(send.content(), blocks);
        } else {
          EXPECT_EQ(recv.content(), std::vector<std::byte>(own, own + 40)) << algorithm << ", root " << root;
        }
      }
}

std::string name_of(const ::testing::TestParamInfo<Operation>& info) { return std::string(operation_name(info.param)); }
INSTANTIATE_TEST_SUITE_P(All, Movement, ::testing::ValuesIn(movements), name_of);

class Reduction : public ::testing::TestWithParam<Operation> {};

TEST_P(Reduction, EqualsHostMemoryByEveryWay) {
  Turn turn;
  for (const Communicator& comm : device_communicators())
    for (const std::string& algorithm : nccl_ways(GetParam(), comm)) {
      Options options;
      options.algorithm = algorithm;
      for (const std::size_t count : {0U, 1U, 7U, 1000U})
        for (const bool in_place : {false, true})
          if (!run_twin(twin(GetParam(), {comm, DatatypeKind::int32, sum, count, comm.size() - 1, in_place}), comm,
                        options, turn.next()))
            break;
    }
}

TEST_P(Reduction, GoesBetweenNodesByHierarchicalSchedules) { expect_hierarchical(GetParam()); }

TEST_P(Reduction, TakesEveryDatatypeAndOperation) {
  const Communicator& comm = device_communicators().front();
  Turn turn;
  for (const DatatypeKind type :
       {DatatypeKind::int8, DatatypeKind::int16, DatatypeKind::int32, DatatypeKind::uint64, DatatypeKind::float16,
        DatatypeKind::bfloat16, DatatypeKind::float8_e5m2, DatatypeKind::float32, DatatypeKind::float64,
        DatatypeKind::complex64, DatatypeKind::complex128, DatatypeKind::float32_int32, DatatypeKind::int64_int64,
        DatatypeKind::logical32})
    for (const ReduceOp& op :
         {sum, prod, min, max, avg, ReduceOp::premul_sum(0.5 * (1 + comm.rank())), land, lxor, bor, minloc, maxloc}) {
      if (!is_defined(op.kind(), type)) continue;
      // Scans have no average.
      const bool is_scan = GetParam() == Operation::scan || GetParam() == Operation::exscan;
      if (is_scan && op.kind() == ReduceKind::avg) continue;
      EXPECT_TRUE(run_twin(twin(GetParam(), {comm, type, op, 65, 0, false}), comm, {}, turn.next()));
    }
}

TEST_P(Reduction, TakesEveryRoot) {
  const Communicator& comm = device_communicators().front();
  Turn turn;
  for (int root = 0; root < comm.size(); ++root)
    for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::bfloat16})
      for (const bool in_place : {false, true})
        EXPECT_TRUE(run_twin(twin(GetParam(), {comm, type, sum, 130, root, in_place}), comm, {}, turn.next()));
}

TEST_P(Reduction, WorksInEveryWayOfCalling) {
  const Communicator& comm = device_communicators().front();
  for (const Way way : ways)
    for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::int16})
      for (const bool in_place : {false, true})
        EXPECT_TRUE(run_twin(twin(GetParam(), {comm, type, sum, 257, 0, in_place}), comm, {}, way));
}

Twin fractions(Operation operation, const Question& question) {
  Twin t = twin(operation, question);
  t.has_fractions = true;
  return t;
}

TEST_P(Reduction, ReproducibleModeGivesTheBitsOfHostMemory) {
  Options options;
  options.reproducible = true;
  Turn turn;
  for (const Communicator& comm : device_communicators())
    for (const std::string& algorithm : nccl_ways(GetParam(), comm))
      for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::bfloat16}) {
        options.algorithm = algorithm;
        const bool works =
            run_twin(fractions(GetParam(), {comm, type, sum, 1000, 0, false}), comm, options, turn.next());
        EXPECT_TRUE(works || !algorithm.empty());
      }
}

TEST_P(Reduction, SixteenBitsAreRoundedOnce) {
  Options options;
  Turn turn;
  for (const Communicator& comm : device_communicators())
    for (const std::string& algorithm : nccl_ways(GetParam(), comm)) {
      options.algorithm = algorithm;
      const bool works = run_twin(fractions(GetParam(), {comm, DatatypeKind::bfloat16, sum, 999, 0, true}), comm,
                                  options, turn.next());
      EXPECT_TRUE(works || !algorithm.empty());
    }
}

TEST_P(Reduction, AccumulationBackendIsNcclsWhereItHasThat) {
  const Communicator& comm = device_communicators().front();
  Options options;
  options.accumulation = Accumulation::backend;
  Turn turn;
  for (const DatatypeKind type : {DatatypeKind::bfloat16, DatatypeKind::float16, DatatypeKind::float8_e5m2,
                                  DatatypeKind::float32, DatatypeKind::float64})
    for (const ReduceOp& op : {sum, prod, min, max})
      EXPECT_TRUE(run_twin(twin(GetParam(), {comm, type, op, 100, 0, true}), comm, options, turn.next()));
}

TEST_P(Reduction, LongVectorsTakeOtherSchedules) {
  const Communicator& comm = device_communicators().front();
  for (const DatatypeKind type : {DatatypeKind::int16, DatatypeKind::bfloat16})
    EXPECT_TRUE(run_twin(twin(GetParam(), {comm, type, sum, 300'001, 0, false}), comm, {}, Way::on_stream));
}

/// In float32 inside NCCL: short vectors by one collective, long ones by two, with blocks of equal and unequal lengths.
TEST_P(Reduction, SixteenBitsMayBeReducedInFloat32) {
  const bool has_it = GetParam() == Operation::allreduce || GetParam() == Operation::reduce ||
                      GetParam() == Operation::reduce_scatter_block;
  if (!has_it) GTEST_SKIP() << "is no collective of NCCL";
  const Communicator& comm = device_communicators().front();
  Options options;
  options.algorithm = "nccl:wide";
  Turn turn;
  for (const DatatypeKind type : {DatatypeKind::bfloat16, DatatypeKind::float16})
    for (const ReduceOp& op : {sum, avg, prod, ReduceOp::premul_sum(0.5)})
      for (const bool in_place : {false, true})
        for (const std::size_t count : {std::size_t{0}, std::size_t{65}}) {
          const int root = comm.size() - 1;
          EXPECT_TRUE(
              run_twin(fractions(GetParam(), {comm, type, op, count, root, in_place}), comm, options, turn.next()));
        }
  for (const std::size_t count : {std::size_t{600'000}, std::size_t{600'001}})
    EXPECT_TRUE(run_twin(twin(GetParam(), {comm, DatatypeKind::bfloat16, avg, count, 0, count % 2 == 0}), comm, options,
                         Way::on_stream));
}

INSTANTIATE_TEST_SUITE_P(All, Reduction, ::testing::ValuesIn(reductions), name_of);

}  // namespace
}  // namespace tutti::test
