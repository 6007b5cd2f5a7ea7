// SPDX-License-Identifier: BSD-3-Clause
#include "tools/question.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"
#include "tools/program.hpp"
#include "tools/units.hpp"

namespace {

using namespace tutti;
using namespace tutti::tools;
using ::testing::HasSubstr;
using tools::testing::ask;

/// The message of the usage error that a call must throw.
template <typename Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no usage error";
  return {};
}

TEST(Units, BytesAreReadAsTheyAreWritten) {
  EXPECT_EQ(parse_bytes("0"), 0U);
  EXPECT_EQ(parse_bytes("64"), 64U);
  EXPECT_EQ(parse_bytes("4KiB"), 4096U);
  EXPECT_EQ(parse_bytes("4k"), 4096U);
  EXPECT_EQ(parse_bytes("1.5 MiB"), 1572864U);
  EXPECT_EQ(parse_bytes("2G"), std::size_t{2} << 30U);
  EXPECT_EQ(parse_bytes("1MB"), 1000000U);
  for (const char* bad : {"", "KiB", "1.5", "-4", "4XB", "1e99", "nan", "4 4"})
    EXPECT_THAT(message_of([&] { static_cast<void>(parse_bytes(bad)); }), HasSubstr(bad));
}

TEST(Units, NumbersAreShort) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(67108864), "64 MiB");
  EXPECT_EQ(seconds_text(0.11e-6), "0.11 us");
  EXPECT_EQ(seconds_text(123.4e-6), "123 us");
  EXPECT_EQ(seconds_text(1.2e-3), "1.20 ms");
  EXPECT_EQ(seconds_text(34.5), "34.5 s");
}

TEST(Question, IsACallOfTheLibrary) {
  auto what = ask("allreduce", "1MiB");
  what.question.type = "float64";
  what.question.op = "max";
  what.question.kind = "persistent";
  const auto signature = signature_of(what.question, 8);
  EXPECT_EQ(signature.operation, Operation::allreduce);
  EXPECT_EQ(signature.kind, detail::CallKind::persistent);
  EXPECT_EQ(signature.type, Datatype(DatatypeKind::float64));
  EXPECT_EQ(signature.op, ReduceKind::max);
  EXPECT_EQ(signature.count, 131072U);
}

TEST(Question, CountsAreThoseThatAllRanksKnow) {
  EXPECT_EQ(signature_of(ask("barrier", "64").question, 4).count, 0U);
  EXPECT_EQ(signature_of(ask("alltoallv", "64").question, 4).count, 0U);
  EXPECT_EQ(signature_of(ask("allgatherv", "64").question, 4).count, 64U);
  EXPECT_EQ(signature_of(ask("allgather", "64").question, 4).count, 16U);
}

TEST(Question, MisspeltNamesListTheValidOnes) {
  auto what = ask("alreduce", "64");
  const auto fails = [&] { static_cast<void>(signature_of(what.question, 4)); };
  EXPECT_THAT(message_of(fails), HasSubstr("did you mean 'allreduce'? Valid: allreduce, "));
  EXPECT_THAT(message_of(fails), HasSubstr("alltoallv"));
  what = ask("allreduce", "64");
  what.question.type = "flaot32";
  EXPECT_THAT(message_of(fails), HasSubstr("did you mean 'float32'?"));
  what = ask("allreduce", "64");
  what.question.op = "summ";
  EXPECT_THAT(message_of(fails), HasSubstr("did you mean 'sum'?"));
  what = ask("allreduce", "64");
  what.question.kind = "nonblock";
  EXPECT_THAT(message_of(fails), HasSubstr("persistent"));
}

TEST(Question, RefusesWhatCannotBe) {
  auto what = ask("allreduce", "6");
  const auto fails = [&] { static_cast<void>(signature_of(what.question, 4)); };
  EXPECT_THAT(message_of(fails), HasSubstr("not a multiple"));
  what = ask("bcast", "8");
  what.question.root = 4;
  EXPECT_THAT(message_of(fails), HasSubstr("--root 4"));
  what = ask("allreduce", "8");
  what.question.rank = -1;
  EXPECT_THAT(message_of(fails), HasSubstr("--rank -1"));
  what = ask("allreduce", "8");
  what.question.op = "band";
  EXPECT_THAT(message_of(fails), HasSubstr("band is not defined for float32; valid: sum, "));
}

TEST(Question, NamesTheMemory) {
  auto what = ask("allreduce", "8");
  EXPECT_EQ(what.make().signature.memory, detail::MemoryClass::host);
  what.question.memory = "device";
  EXPECT_EQ(what.make().signature.memory, detail::MemoryClass::device);
  what.question.memory = "managed";
  EXPECT_THAT(message_of([&] { static_cast<void>(what.make()); }), HasSubstr("host"));
}

TEST(Question, RanksAreSpreadInBlocks) {
  const Topology topology = imagined_topology(7, 3, 2, Place{});
  EXPECT_EQ(topology.ranks_per_node, (std::vector<int>{3, 2, 2}));
  EXPECT_EQ(topology.places[3].node, 1);
  EXPECT_EQ(topology.places[3].local_rank, 0);
  EXPECT_TRUE(topology.oversubscribed);
  EXPECT_FALSE(imagined_topology(6, 3, 2, Place{}).oversubscribed);
}

TEST(Question, TheMachineFollowsTheNodes) {
  auto what = ask("allreduce", "64");
  what.nodes = 2;
  const Case call = what.make();
  EXPECT_TRUE(call.machine().several_nodes);
  EXPECT_FALSE(call.machine().shared_memory);
  EXPECT_EQ(*call.machine().node_of, schedules::NodeMap(std::vector{0, 0, 1, 1}));
  EXPECT_EQ(call_text(call), "allreduce of 64 B (16 float32, sum), blocking, on 4 ranks of 2 nodes");
}

}  // namespace
