// SPDX-License-Identifier: BSD-3-Clause
// A trace with known events, and its summary.
#include "tools/trace_summary.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tutti/error.hpp>

#include "tools/trace_file.hpp"

namespace tutti::tools {
namespace {

/// Rank 1 comes 2 ms late to an allreduce, and its message 3 ms late; it spends 4 ms in a range.
constexpr const char* trace = R"({"otherData":{"writer":"tutti trace"},"traceEvents":[
{"ph":"M","ts":0,"pid":0,"name":"process_name","args":{"name":"rank 0","ended":true,"lost":0}},
{"ph":"M","ts":0,"pid":1,"name":"process_name","args":{"name":"rank 1","ended":false,"lost":3}},
{"ph":"X","ts":0,"pid":0,"tid":0,"name":"allreduce","cat":"blocking","dur":2500,
 "args":{"call":"allreduce","bytes":400,"path":"shm:slots","communicator":"first","sequence":1,"waited":2000,"waited_for":1}},
{"ph":"X","ts":0,"pid":1,"tid":0,"name":"forward","cat":"range","dur":4000},
{"ph":"X","ts":2000,"pid":1,"tid":0,"name":"allreduce","cat":"blocking","dur":500,
 "args":{"call":"allreduce","bytes":400,"path":"shm:slots","communicator":"first","sequence":1}},
{"ph":"X","ts":3000,"pid":0,"tid":0,"name":"irecv","cat":"nonblocking","dur":0,
 "args":{"call":"recv","bytes":5,"path":"messages"}},
{"ph":"X","ts":4000,"pid":0,"tid":0,"name":"wait irecv","cat":"wait","dur":3500,
 "args":{"call":"recv","bytes":5,"path":"messages","waited":3000,"waited_for":1}},
{"ph":"X","ts":7000,"pid":1,"tid":0,"name":"send","cat":"blocking","dur":1000,
 "args":{"call":"send","bytes":5,"path":"messages"}},
{"ph":"s","ts":7000,"pid":1,"tid":0,"name":"message","cat":"message","id":"m0.1"}
]})";

TraceSummary summary_of(const std::string& text) {
  std::istringstream file(text);
  TraceSummary summary;
  read_trace(file, "a file", [&](const TraceSlice& slice) { summary.add(slice); });
  return summary;
}

TEST(TraceSummary, AddsUpOperations) {
  const TraceSummary summary = summary_of(trace);
  ASSERT_EQ(summary.operations().size(), 3U);
  const auto& reduce = summary.operations().at({"allreduce", 512, "shm:slots"});
  EXPECT_EQ(reduce.calls, 2U);
  EXPECT_EQ(reduce.bytes, 800U);
  EXPECT_DOUBLE_EQ(reduce.seconds, 3.0e-3);
  EXPECT_DOUBLE_EQ(reduce.longest, 2.5e-3);
  const auto& recv = summary.operations().at({"irecv", 8, "messages"});
  EXPECT_EQ(recv.calls, 1U);
  EXPECT_DOUBLE_EQ(recv.seconds, 3.5e-3);
}

TEST(TraceSummary, NamesWhoWaitedForWhom) {
  const TraceSummary summary = summary_of(trace);
  ASSERT_EQ(summary.waits().size(), 2U);
  EXPECT_DOUBLE_EQ(summary.waits().at({0, 1, TraceSummary::Reason::collective}).seconds, 2e-3);
  EXPECT_DOUBLE_EQ(summary.waits().at({0, 1, TraceSummary::Reason::late_sender}).seconds, 3e-3);
  EXPECT_DOUBLE_EQ(summary.waited(0), 5e-3);
  EXPECT_DOUBLE_EQ(summary.caused(1), 5e-3);
  EXPECT_DOUBLE_EQ(summary.caused(0), 0);
  ASSERT_EQ(summary.worst().size(), 2U);
  EXPECT_EQ(summary.worst()[0].name, "wait irecv");
}

TEST(TraceSummary, ComparesRanks) {
  const TraceSummary summary = summary_of(trace);
  EXPECT_DOUBLE_EQ(summary.ranks().at(0).in_calls, 6e-3);
  EXPECT_DOUBLE_EQ(summary.ranks().at(0).outside(), 1.5e-3);
  EXPECT_DOUBLE_EQ(summary.ranks().at(1).outside(), 6.5e-3);
  EXPECT_DOUBLE_EQ(summary.imbalance(), 6.5 / 4);
  EXPECT_DOUBLE_EQ(summary.ranges().at("forward").seconds.at(1), 4e-3);
}

TEST(TraceSummary, IsWrittenAsTextAndJson) {
  const TraceSummary summary = summary_of(trace);
  const std::string text = summary.text();
  EXPECT_NE(text.find("rank 0 in wait irecv at 0.004000 s: 3.000 ms for rank 1"), std::string::npos) << text;
  EXPECT_EQ(text.find("Rank 1 ended without MPI_Finalize.\nRank 1 had no room for 3 records"), 0U) << text;
  EXPECT_NE(text.find("rank 0 in allreduce #1 of communicator 'first' at 0.000000 s: 2.000 ms for rank 1"),
            std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(summary.json());
  EXPECT_EQ(json.at("operations").size(), 3U);
  EXPECT_EQ(json.at("waits").at(0).at("reason"), "late sender");
  EXPECT_EQ(json.at("waits").at(0).at("for"), 1);
  EXPECT_DOUBLE_EQ(json.at("ranks").at(1).at("seconds_caused").get<double>(), 5e-3);
}

TEST(TraceSummary, RefusesOtherFiles) {
  EXPECT_THROW((void)summary_of("{"), Error);
  EXPECT_THROW((void)summary_of("no json"), Error);
  EXPECT_THROW((void)summary_of(R"({"traceEvents":[]})"), Error);
  EXPECT_THROW((void)summary_of(std::string(trace).substr(0, 700)), Error);
}

TEST(TraceSummary, PutsSizesIntoClasses) {
  EXPECT_EQ(size_class(0), 0U);
  EXPECT_EQ(size_class(1), 1U);
  EXPECT_EQ(size_class(5), 8U);
  EXPECT_EQ(size_class(4096), 4096U);
  EXPECT_EQ(size_class(~std::uint64_t{0}), ~std::uint64_t{0});
}

}  // namespace
}  // namespace tutti::tools
