// SPDX-License-Identifier: BSD-3-Clause
// What the planner chooses for device memory, on machines that are not at hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <tutti/error.hpp>
#include <vector>

#include "backends/list.hpp"
#include "call/plan.hpp"
#include "planner/candidates.hpp"
#include "planner/planner.hpp"
#include "planner/table.hpp"

namespace tutti::detail {
namespace {

using testing::HasSubstr;

constexpr Operation operations[] = {
    Operation::barrier,    Operation::bcast,    Operation::reduce,         Operation::allreduce,
    Operation::gather,     Operation::gatherv,  Operation::scatter,        Operation::scatterv,
    Operation::scan,       Operation::exscan,   Operation::reduce_scatter, Operation::allgather,
    Operation::allgatherv, Operation::alltoall, Operation::alltoallv,      Operation::reduce_scatter_block};

Signature signature(Operation operation, std::size_t count, DatatypeKind type = DatatypeKind::float32,
                    ReduceKind op = ReduceKind::sum) {
  Signature s;
  s.operation = operation;
  s.memory = MemoryClass::device;
  s.type = type;
  s.op = op;
  s.count = count;
  return s;
}

Machine gpus(int size, int nccl_version = 22809) {
  Machine m;
  m.size = size;
  m.shared_memory = size > 1;
  m.single_copy = true;
  m.device_prepared = true;
  m.device_kernels = true;
  m.nccl_version = nccl_version;
  return m;
}

TEST(DeviceCandidates, NcclGoesFirst) {
  for (const Operation operation : operations)
    for (const int size : {1, 2, 3, 8}) {
      const auto plan = make_plan(signature(operation, 1000), gpus(size));
      EXPECT_EQ(plan->backend, &nccl_backend) << operation_name(operation) << " on " << size;
    }
}

TEST(DeviceCandidates, NcclReducesFloat8FromCapability90On) {
  for (const DatatypeKind type : {DatatypeKind::float8_e4m3, DatatypeKind::float8_e5m2}) {
    Signature call = signature(Operation::allreduce, 1000, type);
    call.accumulation = Accumulation::backend;
    Machine machine = gpus(4);
    EXPECT_EQ(make_plan(call, machine)->algorithm, nullptr) << "by NCCL's own";
    machine.nccl_float8 = false;
    const auto all = candidates(call, machine);
    const auto own = std::ranges::find_if(all, [](const Candidate& c) {  // a schedule has the name, too
      return c.name == "nccl:direct" && c.algorithm == nullptr;
    });
    ASSERT_NE(own, all.end());
    EXPECT_THAT(own->excluded, HasSubstr("compute capability 9.0"));
    call.operation = Operation::allgather;
    EXPECT_EQ(make_plan(call, machine)->backend, &nccl_backend) << "which moves them";
  }
}

// Tables hold times of host memory.
TEST(DeviceCandidates, WhatWasMeasuredInHostMemoryIsNotAsked) {
  const Signature call = signature(Operation::allreduce, 1000);
  Signature on_host = call;
  on_host.memory = MemoryClass::host;
  tuning::Cell cell;
  cell.operation = call.operation;
  cell.kind = call.kind;
  cell.type = tuning::type_class_of(on_host);
  cell.bytes = tuning::bytes_of(on_host);
  for (const Candidate& c : candidates(call, gpus(4))) cell.seconds[c.name] = 1e-9;
  const tuning::Table table({cell});
  Machine machine = gpus(4);
  machine.measured = &table;
  for (const Candidate& c : candidates(call, machine)) EXPECT_FALSE(c.measured) << c.name;
}

TEST(DeviceCandidates, DirectWhereNcclsResultIsTheLibrarys) {
  EXPECT_EQ(make_plan(signature(Operation::allreduce, 1000), gpus(4))->algorithm, nullptr);
  const auto rounded = make_plan(signature(Operation::allreduce, 1000, DatatypeKind::bfloat16), gpus(4));
  ASSERT_NE(rounded->algorithm, nullptr) << "one rounding, in float32";
  EXPECT_TRUE(rounded->algorithm->single_combine);
  Signature backend = signature(Operation::allreduce, 1000, DatatypeKind::bfloat16);
  backend.accumulation = Accumulation::backend;
  EXPECT_EQ(make_plan(backend, gpus(4))->algorithm, nullptr);
  Signature reproducible = signature(Operation::allreduce, 1000);
  reproducible.reproducible = true;
  ASSERT_NE(make_plan(reproducible, gpus(4))->algorithm, nullptr);
  Signature exact = signature(Operation::allreduce, 1000);
  exact.accumulation = Accumulation::exact;
  EXPECT_EQ(make_plan(exact, gpus(4))->backend->name, std::string("staged")) << "no GPU adds exactly";
  EXPECT_TRUE(make_plan(reproducible, gpus(4))->algorithm->single_combine);
}

/// Eight ranks to a node. The machine only views its map.
Machine cluster(const schedules::NodeMap& nodes) {
  Machine machine = gpus(nodes.size());
  machine.several_nodes = true;
  machine.node_of = &nodes;
  return machine;
}

TEST(DeviceCandidates, HundredsOfRanksDoNotSendToEachOther) {
  for (const std::size_t count : {std::size_t{1000}, std::size_t{1} << 24U})
    for (const int size : {512, 8000}) {
      const auto nodes = schedules::NodeMap::blocks(size, 8);
      const auto plan = make_plan(signature(Operation::allreduce, count, DatatypeKind::bfloat16), cluster(nodes));
      EXPECT_EQ(plan->way, "nccl:wide") << count << " on " << size;
    }
  const auto nodes = schedules::NodeMap::blocks(512, 8);
  const auto words = make_plan(signature(Operation::allreduce, 1 << 20, DatatypeKind::int16), cluster(nodes));
  ASSERT_NE(words->algorithm, nullptr);
  EXPECT_EQ(words->backend, &nccl_backend);
  EXPECT_TRUE(words->algorithm->hierarchical) << words->way;
}

TEST(DeviceCandidates, OfFewRanksOneExchangeInSixteenBitsIsEnough) {
  const auto plan = make_plan(signature(Operation::allreduce, std::size_t{1} << 24U, DatatypeKind::bfloat16), gpus(8));
  EXPECT_EQ(plan->way, "nccl:scatter_allgather");
}

TEST(DeviceCandidates, WideningIsForWhatIsRoundedOnce) {
  Signature call = signature(Operation::allreduce, 1000, DatatypeKind::bfloat16);
  call.algorithm = "nccl:wide";
  EXPECT_EQ(make_plan(call, gpus(4))->way, "nccl:wide");
  for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::int16}) {
    call.type = type;
    EXPECT_THROW((void)make_plan(call, gpus(4)), Error) << datatype_name(type);
  }
  call.type = DatatypeKind::bfloat16;
  call.reproducible = true;
  EXPECT_THROW((void)make_plan(call, gpus(4)), Error) << "another order of the ranks gives other bits";
}

TEST(DeviceCandidates, PutsAreForPersistentCallsByNameFromNccl230On) {
  for (const Operation operation :
       {Operation::alltoallv, Operation::allgatherv, Operation::gatherv, Operation::scatterv}) {
    Signature call = signature(operation, 100);
    call.kind = CallKind::persistent;
    EXPECT_NE(make_plan(call, gpus(4, 23007))->way, "nccl:put") << "nobody asked for it";
    call.algorithm = "nccl";
    EXPECT_NE(make_plan(call, gpus(4, 23007))->way, "nccl:put") << "other ways of NCCL need no windows";
    call.algorithm = "nccl:put";
    EXPECT_EQ(make_plan(call, gpus(4, 23007))->way, "nccl:put");
    EXPECT_NE(make_plan(call, gpus(1, 23007))->way, "nccl:put") << "one rank copies";
    EXPECT_THROW((void)make_plan(call, gpus(4, 22907)), Error);
    call.kind = CallKind::nonblocking;
    EXPECT_THROW((void)make_plan(call, gpus(4, 23007)), Error);
  }
  Signature uniform = signature(Operation::alltoall, 100);
  uniform.kind = CallKind::persistent;
  uniform.algorithm = "nccl:put";
  EXPECT_THROW((void)make_plan(uniform, gpus(4, 23007)), Error);
}

std::string refusal_of(const Signature& call, const Machine& machine) {
  try {
    return "planned: " + make_plan(call, machine)->way;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_algorithm);
    return error.what();
  }
}

TEST(DeviceCandidates, NcclIsToldItsAlgorithmByNameFrom231On) {
  constexpr int today = 23203;
  const std::pair<Operation, const char*> calls[] = {{Operation::allreduce, "nccl:ring"},
                                                     {Operation::allreduce, "nccl:tree_ll128"},
                                                     {Operation::allgather, "nccl:pat"},
                                                     {Operation::bcast, "nccl:ring_simple"},
                                                     {Operation::alltoall, "nccl:zero_ctas"}};
  for (const auto& [operation, name] : calls) {
    Signature call = signature(operation, 100);
    EXPECT_EQ(make_plan(call, gpus(4, today))->way, "nccl:direct") << "nobody asked for more";
    call.algorithm = "nccl";
    EXPECT_EQ(make_plan(call, gpus(4, today))->way, "nccl:direct");
    call.algorithm = name;
    EXPECT_EQ(make_plan(call, gpus(4, today))->way, name);
    EXPECT_EQ(make_plan(call, gpus(4, today))->algorithm, nullptr) << "a schedule of that name";
    EXPECT_THAT(refusal_of(call, gpus(4, 23007)), HasSubstr("from version 2.31 on, and this is 2.30.7"));
  }
}

TEST(DeviceCandidates, ACallThatNcclDoesNotMakeHasTheSchedulesName) {
  Signature call = signature(Operation::allreduce, 100);
  call.reproducible = true;
  call.algorithm = "nccl:tree";
  EXPECT_THAT(refusal_of(call, gpus(4, 23203)), HasSubstr("its result differs"));
  call.reproducible = false;
  call.type = DatatypeKind::int16;
  call.algorithm = "nccl:ring";
  for (const int version : {22809, 23203})
    EXPECT_NE(make_plan(call, gpus(4, version))->algorithm, nullptr) << "NCCL has no 16-bit integers";
  call.type = DatatypeKind::int32;
  const auto all = candidates(call, gpus(4, 23203));
  EXPECT_EQ(std::ranges::count(all, "nccl:ring", &Candidate::name), 1);
}

TEST(DeviceCandidates, WithoutKernelsReductionsThatNcclLacksAreStaged) {
  Machine machine = gpus(4);
  machine.device_kernels = false;
  const auto plan = make_plan(signature(Operation::allreduce, 1000, DatatypeKind::int16), machine);
  EXPECT_EQ(plan->backend, &staged_backend);
  ASSERT_NE(plan->part, nullptr);
  EXPECT_EQ(plan->part->backend, &shm_backend) << "ranks of one node";
  EXPECT_EQ(make_plan(signature(Operation::alltoallv, 0), machine)->backend, &nccl_backend);
}

TEST(DeviceCandidates, UsersOperationsAreStaged) {
  EXPECT_EQ(make_plan(signature(Operation::allreduce, 10, DatatypeKind::float32, ReduceKind::user), gpus(4))->backend,
            &staged_backend);
}

TEST(DeviceCandidates, WithoutPreparationAllIsStaged) {
  Machine machine = gpus(4);
  machine.device_prepared = false;
  machine.nccl_version = 0;
  for (const Operation operation : operations) {
    Signature call = signature(operation, 10);
    call.kind = CallKind::nonblocking;
    EXPECT_EQ(make_plan(call, machine)->backend, &staged_backend) << operation_name(operation);
    call.algorithm = "nccl";
    try {
      (void)make_plan(call, machine);
      ADD_FAILURE() << "nccl without preparation";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_algorithm);
      EXPECT_THAT(error.what(), HasSubstr("prepare_device"));
    }
  }
}

/// Their ranks tell one another their counts, which no execution on a device does.
TEST(DeviceCandidates, SchedulesThatAskForCountsAreForHostMemory) {
  const schedules::NodeMap nodes(std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  Machine with_nccl = cluster(nodes);
  Machine cuda_aware = cluster(nodes);
  cuda_aware.nccl_version = 0;
  cuda_aware.cuda_aware = true;
  for (const Operation operation : {Operation::gatherv, Operation::scatterv, Operation::alltoallv})
    for (const Machine& machine : {with_nccl, cuda_aware}) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20U}) {
        const auto plan = make_plan(signature(operation, count), machine);
        EXPECT_FALSE(plan->algorithm != nullptr && plan->algorithm->tells_counts)
            << plan->way << " for " << operation_name(operation) << " of " << count;
      }
      Signature named = signature(operation, 1000);
      named.algorithm = machine.nccl_version > 0 ? "nccl:hierarchical" : "mpi:hierarchical";
      EXPECT_THROW((void)make_plan(named, machine), Error) << named.algorithm;
    }
}

TEST(DeviceCandidates, SchedulesOnDeviceMemoryWhereTheMpiTakesIt) {
  Machine machine = gpus(4, 0);
  EXPECT_EQ(make_plan(signature(Operation::allreduce, 1 << 22), machine)->backend, &staged_backend);
  Signature named = signature(Operation::allreduce, 1 << 22);
  named.algorithm = "mpi:ring";
  EXPECT_EQ(make_plan(named, machine)->backend, &mpi_backend) << "by name, through pinned memory";
  machine.cuda_aware = true;
  machine.shared_memory = false;
  EXPECT_EQ(make_plan(signature(Operation::allreduce, 1 << 22), machine)->backend, &mpi_backend);
  machine.device_kernels = false;
  EXPECT_EQ(make_plan(signature(Operation::allreduce, 1 << 22), machine)->backend, &staged_backend);
  EXPECT_EQ(make_plan(signature(Operation::alltoall, 1 << 20), machine)->backend, &mpi_backend);
}

TEST(DeviceCandidates, HostPlansAreNeverTheHostMpis) {
  Machine machine = gpus(4, 0);
  machine.shared_memory = false;
  machine.device_prepared = false;
  for (const CallKind kind : {CallKind::blocking, CallKind::nonblocking, CallKind::persistent})
    for (const Operation operation : operations) {
      Signature call = signature(operation, 100);
      call.kind = kind;
      const auto plan = make_plan(call, machine);
      ASSERT_EQ(plan->backend, &staged_backend);
      EXPECT_EQ(plan->part->backend, &mpi_backend);
      EXPECT_EQ(plan->part->signature.memory, MemoryClass::host);
      EXPECT_EQ(plan->part->signature.kind, kind);
    }
}

TEST(DeviceCandidates, PiecesCoverTheVector) {
  Machine machine = gpus(4, 0);
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{1} << 22U, (std::size_t{1} << 26U) + 1}) {
    const auto plan = make_plan(signature(Operation::allreduce, count), machine);
    ASSERT_EQ(plan->backend, &staged_backend);
    EXPECT_GE(plan->pieces * plan->part->signature.count, count);
    if (plan->pieces > 1) {
      EXPECT_LT((plan->pieces - 1) * plan->part->signature.count, count);
    }
  }
}

TEST(DeviceCandidates, NoNameReachesTheHostsBackends) {
  for (const char* name : {"shm", "native", "shm:slots"}) {
    Signature call = signature(Operation::allreduce, 10);
    call.algorithm = name;
    EXPECT_THROW((void)make_plan(call, gpus(4)), Error) << name;
  }
}

TEST(DeviceCandidates, DoNotDependOnTheRank) {
  for (const Operation operation : operations)
    for (const int version : {0, 21803, 22809}) {
      Machine first = gpus(5, version);
      Machine other = first;
      other.rank = 3;
      const auto a = make_plan(signature(operation, 12345), first);
      const auto b = make_plan(signature(operation, 12345), other);
      EXPECT_EQ(a->backend, b->backend);
      EXPECT_EQ(a->algorithm, b->algorithm);
      EXPECT_EQ(a->pieces, b->pieces);
    }
}

}  // namespace
}  // namespace tutti::detail
