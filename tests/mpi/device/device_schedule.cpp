// SPDX-License-Identifier: BSD-3-Clause
#include "backends/list.hpp"
#include "backends/mpi/device_schedule_execution.hpp"

#include <gtest/gtest.h>

#include "device/traffic.hpp"
#include "example.hpp"
#include "planner/candidates.hpp"
#include "planner/planner.hpp"

namespace tutti::test {
namespace {

/// The plans of a call by every schedule that can make it.
std::vector<std::shared_ptr<const Plan>> plans_of(const Context& comm, const Signature& signature) {
  std::vector<std::shared_ptr<const Plan>> plans;
  for (const detail::Candidate& candidate : detail::candidates(signature, comm.machine())) {
    if (candidate.backend != &detail::mpi_backend || !candidate.nameable) continue;
    Signature named = signature;
    named.algorithm = candidate.name;
    const auto host = detail::make_plan(named, comm.machine());
    auto plan = std::make_shared<Plan>(*host);
    plan->signature.memory = detail::MemoryClass::device;
    plans.push_back(plan);
  }
  return plans;
}

std::shared_ptr<detail::Execution> execution_of(const Communicator& comm, const std::shared_ptr<const Plan>& plan,
                                                const Binding& binding, const Stream& stream) {
  const auto& state = comm.state();
  const bool persistent = plan->signature.kind == CallKind::persistent;
  const int tag = persistent ? state->next_persistent_tag() : state->next_tag();
  return std::make_shared<detail::DeviceScheduleExecution>(state, plan, binding, tag, stream, std::chrono::seconds(20));
}

/// By every algorithm; the ways to call take turns.
void check_all_algorithms(const Communicator& comm, const Example& example) {
  static std::size_t turn = 0;
  const Buffers buffers(comm, example);
  const std::size_t algorithms = plans_of(*comm.state(), buffers.signature(CallKind::blocking)).size();
  for (std::size_t i = 0; i < algorithms; ++i) {
    const Way way = all_ways[turn++ % std::size(all_ways)];
    const auto plans = plans_of(*comm.state(), buffers.signature(kind_of(way)));
    ASSERT_EQ(plans.size(), algorithms);
    const auto make = [&](const Stream& stream) { return execution_of(comm, plans[i], buffers.binding(), stream); };
    check(buffers, way, make, example.describe() + " by " + std::string(plans[i]->algorithm->name));
  }
}

constexpr Operation all_operations[] = {
    Operation::bcast,    Operation::reduce,    Operation::allreduce,     Operation::reduce_scatter_block,
    Operation::scan,     Operation::exscan,    Operation::gather,        Operation::gatherv,
    Operation::scatter,  Operation::scatterv,  Operation::allgather,     Operation::allgatherv,
    Operation::alltoall, Operation::alltoallv, Operation::reduce_scatter};

class DeviceSchedule : public ::testing::TestWithParam<bool> {};

TEST_P(DeviceSchedule, EveryOperationByEveryAlgorithm) {
  const Communicator comm = device_communicator(GetParam());
  for (const Operation operation : all_operations)
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{77}})
      for (const bool in_place : {false, true})
        check_all_algorithms(comm, {operation, count, DatatypeKind::int32, sum, comm.size() - 1, in_place});
}

TEST_P(DeviceSchedule, TypesAndOperations) {
  const Communicator comm = device_communicator(GetParam());
  check_all_algorithms(comm, {Operation::allreduce, 50, DatatypeKind::bfloat16, sum});
  check_all_algorithms(comm, {Operation::allreduce, 50, DatatypeKind::float32, avg});
  check_all_algorithms(comm, {Operation::allreduce, 50, DatatypeKind::float64, ReduceOp::premul_sum(0.5)});
  check_all_algorithms(comm, {Operation::alltoall, 5, Datatype::bytes(3)});
}

INSTANTIATE_TEST_SUITE_P(Messages, DeviceSchedule, ::testing::Bool(),
                         [](const auto& mode) { return mode.param ? "fromDeviceMemory" : "throughPinnedMemory"; });

/// Sum of the bytes that were copied between host and device: none where messages are direct.
std::size_t copies() {
  std::size_t found = 0;
  for (const std::string& call : runtime().record()) found += call.rfind("copy", 0) == 0 ? 1 : 0;
  return found;
}

TEST(DeviceScheduleChoice, DirectOnlyWhenBlockingAndNoNcclWorkIsInFlight) {
  const Communicator comm = device_communicator(true);
  if (comm.size() == 1) GTEST_SKIP() << "one rank sends nothing";
  const Buffers buffers(comm, {Operation::allgather, 64, DatatypeKind::int32});
  const auto copies_of = [&](CallKind kind) {
    Signature signature = buffers.signature(kind);
    signature.algorithm = "mpi:ring";
    auto plan = std::make_shared<Plan>(*detail::make_plan(signature, comm.state()->machine()));
    plan->signature.memory = detail::MemoryClass::device;
    runtime().clear_record();
    const auto execution = execution_of(comm, plan, buffers.binding(), {});
    detail::run_to_end(*execution);
    const std::size_t found = copies();
    MPI_Barrier(MPI_COMM_WORLD);
    return found;
  };
  buffers.fill();
  const std::size_t direct = copies_of(CallKind::blocking);
  const std::size_t bounced = copies_of(CallKind::nonblocking);
  EXPECT_LT(direct, bounced);
  const auto stream = runtime().create_stream();
  std::atomic<bool> ends{false};
  runtime().enqueue(stream, "nccl", [&ends] { return ends.load(); });
  // One rank only: the message is the same, so the choice is local.
  if (comm.rank() == 0) detail::device::Traffic::of(0).note_launch(stream);
  EXPECT_EQ(copies_of(CallKind::blocking), comm.rank() == 0 ? bounced : direct);
  ends = true;
  runtime().run_all();
  EXPECT_EQ(copies_of(CallKind::blocking), direct);
  runtime().destroy_stream(stream);
}

}  // namespace
}  // namespace tutti::test
