// SPDX-License-Identifier: BSD-3-Clause
// What a call tells NCCL from 2.31 on: its algorithm, whether it takes thread blocks, and its number for profilers.
#include <algorithm>

#include "backends/nccl/rules.hpp"
#include "core/config.hpp"
#include "mpi/nccl/support.hpp"
#include "mpi/nccl/twins.hpp"

namespace tutti::test {
namespace {

using detail::nccl::told_ways;

bool is_told() { return machine().nccl.table().version >= detail::nccl::version_of_call_config; }

/// The collectives of NCCL that were called, with their arguments.
std::vector<std::string> collectives() {
  std::vector<std::string> found;
  std::ranges::copy_if(machine().nccl.record(), std::back_inserter(found),
                       [](const std::string& call) { return call.find("count=") != std::string::npos; });
  return found;
}

class Told : public ::testing::Test {
 protected:
  Told() {
    (void)device_communicators();
    options_.stream = user_stream();
    machine().nccl.clear_record();
  }
  void run(const Communicator& comm, const std::string& algorithm) {
    options_.algorithm = algorithm;
    data_.fill(ints(100, comm.rank() + 1));
    allreduce(comm, in_place, device_buffer(data_, DatatypeKind::int32), sum, options_);
    machine().drain();
    EXPECT_EQ(data_.content(), ints(100, sum_of_ranks(comm, 1))) << algorithm;
  }
  static const Communicator& comm() { return device_communicators().front(); }
  DeviceMemory data_{100 * sizeof(std::int32_t)};
  Options options_{};
};

TEST_F(Told, EveryNameReachesNccl) {
  if (!is_told() || comm().size() == 1) GTEST_SKIP() << "nothing is told";
  std::size_t turn = 0;
  for (const Operation operation : all_operations)
    for (const std::string_view way : told_ways(operation)) {
      Options options;
      options.algorithm = "nccl:" + std::string(way);
      machine().nccl.clear_record();
      const Twin call = twin(operation, {comm(), DatatypeKind::int32, sum, 130, 0, false});
      EXPECT_TRUE(run_twin(call, comm(), options, ways[turn++ % std::size(ways)]));
      const auto calls = collectives();
      EXPECT_EQ(calls.size(), 2U);
      const std::string told = way == detail::nccl::zero_ctas ? "without ctas)" : "by " + std::string(way) + ")";
      for (const std::string& one : calls) EXPECT_TRUE(one.ends_with(told)) << one;
    }
}

TEST_F(Told, ACallWithoutANameLeavesTheChoiceToNccl) {
  run(comm(), "nccl:direct");
  EXPECT_EQ(collectives(), std::vector<std::string>{"all_reduce(count=100, int32, sum)"});
}

TEST_F(Told, AnOlderNcclIsNamed) {
  if (is_told() || comm().size() == 1) GTEST_SKIP() << "nothing is refused";
  for (const char* algorithm : {"nccl:ring", "nccl:tree_ll", "nccl:nvls"}) {
    const std::string text = failure_of(ErrorCode::invalid_algorithm, [&] { run(comm(), algorithm); });
    EXPECT_NE(text.find("from version 2.31 on, and this is 2.28.9"), std::string::npos) << text;
    EXPECT_NE(text.find("NCCL_ALGO"), std::string::npos) << text;
  }
  EXPECT_TRUE(collectives().empty());
}

/// An algorithm that the devices lack shows at the call, on all ranks, before anything is launched.
TEST_F(Told, WhatNcclRefusesLeavesTheCommunicatorUsable) {
  if (!is_told() || comm().size() == 1) GTEST_SKIP() << "nothing is told";
  if (!detail::config().nccl_blocking) GTEST_SKIP() << "NCCL keeps the failure of a call";
  machine().nccl.set_missing("nvls", true);
  for (const bool is_first : {true, false}) {
    const std::string text = failure_of(ErrorCode::invalid_algorithm, [&] { run(comm(), "nccl:nvls"); });
    EXPECT_NE(text.find("NCCL refuses algorithm 'nccl:nvls'"), std::string::npos) << text;
    EXPECT_NE(text.find("no algorithm in the selected set"), std::string::npos) << text << is_first;
    run(comm(), "");
  }
  const std::string text = failure_of(ErrorCode::invalid_algorithm, [&] {
    options_.algorithm = "nccl:nvls";
    iallreduce(comm(), in_place, device_buffer(data_, DatatypeKind::int32), sum, options_).wait();
  });
  EXPECT_NE(text.find("name another one"), std::string::npos) << text;
  machine().nccl.set_missing("nvls", false);
  run(comm(), "nccl:nvls");
}

TEST_F(Told, ProfilersSeeTheNumberOfTheFlightRecorder) {
  if (!is_told() || comm().size() == 1) GTEST_SKIP() << "nothing is told";
  const detail::FlightLog& flight = comm().state()->flight;
  for (int i = 0; i < 3; ++i) {
    run(comm(), "");
    EXPECT_EQ(machine().nccl.last_tag(), flight.sequence()) << "call " << i;
  }
  const std::uint64_t last = machine().nccl.last_tag();
  EXPECT_EQ(last > 0, flight.recorder() != nullptr);
  Request persistent = allreduce_init(comm(), in_place, device_buffer(data_, DatatypeKind::int32), sum, options_);
  iallreduce(comm(), in_place, device_buffer(data_, DatatypeKind::int32), sum, options_).wait();
  EXPECT_EQ(machine().nccl.last_tag(), last + 2);
  persistent.start();
  persistent.wait();
  EXPECT_EQ(machine().nccl.last_tag(), last + 1) << "of the call that made it";
  machine().drain();
}

/// Copy engines write into windows only.
TEST_F(Told, CopyEnginesWorkWhereTheOutputLiesInAWindow) {
  if (!is_told() || comm().size() == 1) GTEST_SKIP() << "nothing is told";
  const std::size_t block = 64;
  const auto bytes = block * static_cast<std::size_t>(comm().size());
  const Allocation window = allocate(comm(), bytes, MemoryKind::device);
  const DeviceMemory plain(bytes);
  const DeviceMemory own(block);
  const auto copied = [&](void* output, const std::string& algorithm) {
    const int before = machine().nccl.copied();
    options_.algorithm = algorithm;
    allgather(comm(), ConstBuffer(own.data(), block, Datatype::bytes(1), MemoryKind::device),
              Buffer(output, bytes, Datatype::bytes(1), MemoryKind::device), options_);
    machine().drain();
    return machine().nccl.copied() - before;
  };
  const int expected = detail::config().nccl_register ? 1 : 0;
  EXPECT_EQ(copied(window.data(), "nccl:zero_ctas"), expected);
  EXPECT_EQ(copied(plain.data(), "nccl:zero_ctas"), 0);
  EXPECT_EQ(copied(window.data(), ""), 0) << "nobody asked for it";
}

}  // namespace
}  // namespace tutti::test
