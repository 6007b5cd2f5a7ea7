// SPDX-License-Identifier: BSD-3-Clause
// Traces of each format, as one rank reads them, and what is wrong with others.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "replay/recording.hpp"
#include "replay/replayed_call.hpp"
#include "replay/torch_names.hpp"

namespace tutti::commbench::replay {
namespace {

namespace fs = std::filesystem;
using Counts = std::vector<std::size_t>;

class Replay : public testing::Test {
 protected:
  Replay() { fs::create_directories(folder_); }
  ~Replay() override { fs::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  [[nodiscard]] std::string folder() const { return folder_.string(); }
  /// The error of a trace; its text names the file.
  [[nodiscard]] std::string error_of(const std::string& text, int rank = 0, int ranks = 2) const {
    const std::string path = file("bad.json", text);
    try {
      (void)read_recording({path}, rank, ranks);
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
      return std::string(error.what()).substr(path.size());
    }
    return "accepted";
  }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("tutti_replay." + std::to_string(getpid()));
};

constexpr const char* tutti_head =
    R"({"displayTimeUnit":"ns","otherData":{"writer":"tutti trace","clocks":"one","communicators":[)"
    R"({"mark":"aa","name":"first","world_ranks":[0,1]},{"mark":"bb","name":"back","world_ranks":[1,0]}]},"traceEvents":[)"
    "\n"
    R"({"ph":"M","ts":0,"pid":0,"name":"process_name","args":{"name":"rank 0","ended":true,"lost":0}},)"
    R"({"ph":"M","ts":0,"pid":1,"name":"process_name","args":{"name":"rank 1","ended":true,"lost":0}},)"
    "\n";

std::string event(double time, int rank, const std::string& name, const std::string& category, double length,
                  const std::string& facts) {
  return R"({"ph":"X","ts":)" + std::to_string(time) + R"(,"pid":)" + std::to_string(rank) + R"(,"tid":0,"name":")" +
         name + R"(","cat":")" + category + R"(","dur":)" + std::to_string(length) +
         R"(,"args":{"state":"done","path":"x",)" + facts + "}}";
}

TEST_F(Replay, ReadsTheCallsOfOneRank) {
  const std::string path = file(
      "trace.json",
      tutti_head +
          event(
              10, 1, "allreduce", "blocking", 5,
              R"("call":"allreduce","form":"blocking","bytes":40,"mark":"aa","sequence":1,"datatype":"float64","op":"max")") +
          ",\n" +
          event(
              20, 0, "allreduce", "blocking", 5,
              R"("call":"allreduce","form":"blocking","bytes":40,"mark":"aa","sequence":1,"datatype":"float64","op":"max")") +
          ",\n" +
          event(30, 0, "ialltoallv", "nonblocking", 0,
                R"("call":"alltoallv","form":"nonblocking","bytes":12,"mark":"bb","sequence":1,"datatype":"int32",)"
                R"("request":7,"took":60,"send_bytes":[4,8],"recv_bytes":[4,0])") +
          ",\n" + event(50, 0, "split", "blocking", 1, R"("call":"split","form":"blocking","bytes":0)") + ",\n" +
          event(60, 0, "wait ialltoallv", "wait", 30,
                R"("call":"alltoallv","form":"nonblocking","bytes":12,"mark":"bb","request":7)") +
          "\n]}\n");
  const Recording read = read_recording({path}, 0, 2);
  EXPECT_EQ(read.format, "tutti");
  EXPECT_EQ(read.ranks, 2);
  EXPECT_TRUE(read.has_times);
  ASSERT_EQ(read.calls.size(), 2U);
  const Exchange& reduction = read.calls[0].exchange;
  EXPECT_EQ(reduction.operation, Operation::allreduce);
  EXPECT_EQ(reduction.type, Datatype(DatatypeKind::float64));
  EXPECT_EQ(reduction.op, ReduceKind::max);
  EXPECT_EQ(reduction.count, 5U);
  const Exchange& exchange = read.calls[1].exchange;
  EXPECT_EQ(exchange.send_counts, (Counts{1, 2}));
  EXPECT_EQ(exchange.recv_counts, (Counts{1, 0}));
  EXPECT_EQ(read.groups[read.calls[1].group].world_ranks, (std::vector<int>{1, 0}));
  ASSERT_EQ(read.steps.size(), 3U);
  EXPECT_EQ(read.steps[0].kind, Step::Kind::run);
  EXPECT_NEAR(read.steps[0].begin, 10e-6, 1e-12) << "since the first call of any rank";
  EXPECT_NEAR(*read.steps[0].length, 5e-6, 1e-12);
  EXPECT_EQ(read.steps[1].kind, Step::Kind::start);
  EXPECT_EQ(read.steps[2].kind, Step::Kind::wait);
  EXPECT_NEAR(*read.steps[2].length, 30e-6, 1e-12);
  EXPECT_NEAR(read.length, 70e-6, 1e-12);
  EXPECT_EQ(read.left_out, (std::map<std::string, std::uint64_t>{{"split", 1}}));
}

/// Both halves of a sendrecv block at a time; a replay by one thread must not.
TEST_F(Replay, StartsOverlappingCallsTogether) {
  const std::string path = file(
      "trace.json", tutti_head +
                        event(10, 0, "send", "blocking", 50,
                              R"("call":"send","form":"blocking","bytes":8,"mark":"aa","peer":1,"tag":3)") +
                        ",\n" +
                        event(11, 0, "recv", "blocking", 40,
                              R"("call":"recv","form":"blocking","bytes":6,"mark":"aa","peer":1,"tag":4)") +
                        ",\n" +
                        event(70, 0, "group", "blocking", 5,
                              R"("call":"group","form":"blocking","bytes":9,"mark":"aa",)"
                              R"("messages":[{"source":1,"tag":5,"bytes":2},{"destination":1,"tag":6,"bytes":7}])") +
                        "\n]}\n");
  const Recording read = read_recording({path}, 0, 2);
  ASSERT_EQ(read.steps.size(), 5U);
  EXPECT_EQ(read.steps[0].kind, Step::Kind::start);
  EXPECT_EQ(read.steps[1].kind, Step::Kind::start);
  EXPECT_EQ(read.steps[2].kind, Step::Kind::wait);
  EXPECT_EQ(read.steps[2].call, 1U) << "the receive was over first";
  EXPECT_NEAR(*read.steps[2].length, 40e-6, 1e-12);
  EXPECT_EQ(read.steps[3].call, 0U);
  EXPECT_NEAR(*read.steps[3].length, 9e-6, 1e-12);
  EXPECT_EQ(read.steps[4].kind, Step::Kind::run);
  ASSERT_EQ(read.calls[2].exchange.messages.size(), 2U);
  EXPECT_TRUE(read.calls[2].exchange.messages[0].is_recv);
  EXPECT_EQ(read.calls[2].exchange.messages[1].bytes, 7U);
  EXPECT_EQ(read.calls[2].exchange.messages[1].tag, 6);
}

TEST_F(Replay, ReadsParam) {
  const std::string path = file("0.json", R"([
 {"comms": "init", "pg_id": 3, "global_ranks": [1, 0], "world_size": 2},
 {"comms": "all_to_allv", "req": 1, "in_msg_size": 5, "out_msg_size": 4, "dtype": "Float", "in_split": [2, 3],
  "out_split": [2, 2], "pg_id": 3, "startTime_ns": 1000},
 {"comms": "broadcast", "req": 2, "in_msg_size": 7, "out_msg_size": 7, "dtype": "int", "root": 0, "pg_id": 3,
  "startTime_ns": 3000},
 {"comms": "wait", "req": 1, "startTime_ns": 4000},
 {"compute": "gemm", "mm_dim": 8, "dtype": "float"},
 {"comms": "barrier", "startTime_ns": 5000},
 {"comms": "send", "src_rank": 0, "dst_rank": 1, "in_msg_size": 3, "out_msg_size": 3, "dtype": "half"},
 {"comms": "recv", "src_rank": 0, "dst_rank": 1, "in_msg_size": 3, "out_msg_size": 3, "dtype": "half"}
])");
  const Recording read = read_recording({path}, 0, 2);
  ASSERT_EQ(read.calls.size(), 4U);
  EXPECT_EQ(read.calls[0].exchange.operation, Operation::alltoallv);
  EXPECT_EQ(read.calls[0].mode, Mode::nonblocking);
  EXPECT_EQ(read.calls[0].exchange.recv_counts, (Counts{2, 2}));
  EXPECT_EQ(read.groups[read.calls[0].group].world_ranks, (std::vector<int>{1, 0}));
  EXPECT_EQ(read.calls[1].mode, Mode::blocking) << "nothing waits for it";
  EXPECT_EQ(read.calls[1].exchange.root, 1) << "rank 0 of the job is the second one of the communicator";
  EXPECT_EQ(read.calls[2].exchange.operation, Operation::barrier);
  ASSERT_EQ(read.calls[3].exchange.messages.size(), 1U);
  EXPECT_EQ(read.calls[3].exchange.messages[0].bytes, 6U);
  EXPECT_FALSE(read.calls[3].exchange.messages[0].is_recv);
  EXPECT_EQ(read.left_out.at("compute gemm"), 1U);
  EXPECT_TRUE(read.has_times);
}

TEST_F(Replay, ReadsExecutionTraces) {
  const std::string before = file("eg_0.json", R"json({"schema": "1.0.1", "pid": 1, "nodes": [
 {"name": "aten::add", "id": 1, "inputs": [1], "input_types": ["Int"]},
 {"name": "record_param_comms", "id": 2, "inputs": [[7, 8, 0, 6, 4, "cuda:0"], 147, 94594108284448, 0, "all_to_allv",
   [4, 2], [3, 3]], "input_types": ["Tensor(float)"], "outputs": [[9, 8, 0, 6, 4, "cuda:0"]]},
 {"name": "record_param_comms", "id": 3, "inputs": [147, 0, 0, "wait", [], []], "input_types": ["Int"], "outputs": []}
]})json");
  const Recording old = read_recording({before}, 0, 2);
  ASSERT_EQ(old.calls.size(), 1U);
  EXPECT_EQ(old.calls[0].exchange.send_counts, (Counts{4, 2}));
  EXPECT_EQ(old.calls[0].mode, Mode::nonblocking);
  EXPECT_FALSE(old.has_times);
  const std::string later = file("et_1.json", R"json({"schema": "1.1.0-chakra.0.0.4", "pid": 1, "nodes": [
 {"id": 4, "name": "## process_group:init ##", "inputs": {"values":
   ["[{\"pg_name\": \"5\", \"pg_desc\": \"x\", \"ranks\": [1, 3], \"group_size\": 2, \"group_count\": 1}]"]}},
 {"id": 5, "name": "record_param_comms", "inputs": {"values": [[[4, 5, 0, 53, 8, "cuda:1"]], 34, ["5", "x"], 1,
   "broadcast", [], [], 0, 1, 2]}, "outputs": {"values": []}, "attrs": [
   {"name": "collective_name", "value": "broadcast"}, {"name": "dtype", "value": "Long"},
   {"name": "in_msg_nelems", "value": 53}, {"name": "out_msg_nelems", "value": 53},
   {"name": "in_split_size", "value": "[]"}, {"name": "out_split_size", "value": "[]"},
   {"name": "pg_name", "value": "5"}, {"name": "pg_size", "value": 2}]}
]})json");
  const Recording read = read_recording({later}, 3, 4);
  ASSERT_EQ(read.calls.size(), 1U);
  EXPECT_EQ(read.ranks, 4);
  EXPECT_EQ(read.calls[0].exchange.root, 1) << "a rank of the communicator";
  EXPECT_EQ(read.calls[0].exchange.type, Datatype(DatatypeKind::int64));
  EXPECT_EQ(read.calls[0].exchange.count, 53U);
  EXPECT_EQ(read.groups[read.calls[0].group].world_ranks, (std::vector<int>{1, 3}));
}

TEST_F(Replay, ReadsProfiles) {
  const std::string path = file("worker1_step_12.json", R"({"schemaVersion": 1,
 "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2}, "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"External id": 3}},
 {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 100, "dur": 7, "args":
  {"External id": 4, "Collective name": "_allgather_base", "In msg nelems": 3, "Out msg nelems": 6, "Group size": 2,
   "dtype": "BFloat16", "In split size": "[]", "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Rank": 1}},
 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather", "pid": 0, "tid": 7, "ts": 104, "dur": 40, "args":
  {"External id": 4, "Collective name": "_allgather_base"}},
 {"ph": "i", "cat": "x", "name": "marker"}]})");
  (void)file("worker0_step_12.json", R"({"distributedInfo": {"rank": 0}, "traceEvents": []})");
  const Recording read = read_recording({folder()}, 1, 2);
  ASSERT_EQ(read.calls.size(), 1U);
  EXPECT_EQ(read.format, "kineto");
  EXPECT_EQ(read.calls[0].exchange.operation, Operation::allgather);
  EXPECT_EQ(read.calls[0].exchange.count, 3U);
  EXPECT_EQ(read.calls[0].exchange.type, Datatype(DatatypeKind::bfloat16));
  EXPECT_NEAR(*read.steps[0].length, 40e-6, 1e-12) << "the kernel's, not that of its launch";
  EXPECT_TRUE(read_recording({path, folder() + "/worker0_step_12.json"}, 0, 2).calls.empty());
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
  return bytes + static_cast<char>(value);
}

std::string wire(unsigned number, std::uint64_t value) { return varint(std::uint64_t{number} << 3U) + varint(value); }
std::string wire(unsigned number, const std::string& bytes) {
  return varint(std::uint64_t{number} << 3U | 2U) + varint(bytes.size()) + bytes;
}

std::string message(const std::string& bytes) { return varint(bytes.size()) + bytes; }

/// Attributes by the fields int64_val, sint64_val and string_val of Chakra's schema.
std::string attribute(const std::string& name, std::uint64_t value) { return wire(10, wire(1, name) + wire(9, value)); }
std::string zigzag(const std::string& name, std::uint64_t value) { return wire(10, wire(1, name) + wire(17, value)); }
std::string text(const std::string& name, const std::string& value) {
  return wire(10, wire(1, name) + wire(29, value));
}

const std::string chakra_head = message(wire(1, std::string("0.0.4")));

TEST_F(Replay, ReadsChakra) {
  const std::string sum = wire(3, 7U) + wire(6, 100U) + wire(7, 20U) + attribute("comm_type", 0) +
                          attribute("comm_size", 40) + text("pg_name", "dp");
  const std::string odd = wire(3, 7U) + wire(6, 130U) + attribute("comm_type", 0) + attribute("comm_size", 41);
  const std::string gather = wire(3, 7U) + wire(6, 140U) + zigzag("comm_type", 4) + attribute("comm_size", 6);
  const std::string send =
      wire(3, 5U) + wire(6, 150U) + attribute("comm_size", 300) + attribute("comm_dst", 1) + attribute("comm_tag", 9);
  // A field that nobody knows, of each wire type.
  const std::string later = wire(90, 7U) + wire(91, std::string("new")) + varint(92U << 3U | 1U) + std::string(8, 'x') +
                            varint(93U << 3U | 5U) + std::string(4, 'x');
  const std::string path =
      file("trace.0.et", chakra_head + message(sum + later) + message(odd) + message(gather) + message(send));
  const Recording read = read_recording({path}, 0, 2);
  EXPECT_EQ(read.format, "chakra");
  ASSERT_EQ(read.calls.size(), 4U);
  EXPECT_EQ(read.calls[0].exchange.type, Datatype(DatatypeKind::float32));
  EXPECT_EQ(read.calls[0].exchange.count, 10U);
  EXPECT_EQ(read.calls[1].exchange.type, Datatype(DatatypeKind::uint8)) << "41 bytes are no floats";
  EXPECT_EQ(read.calls[1].exchange.count, 41U);
  EXPECT_EQ(read.calls[2].exchange.operation, Operation::allgather) << "zigzag 4 is 2";
  EXPECT_EQ(read.calls[2].exchange.count, 6U);
  const Message& sent = read.calls[3].exchange.messages.at(0);
  EXPECT_EQ(sent.bytes, 300U);
  EXPECT_EQ(sent.peer, 1);
  EXPECT_EQ(sent.tag, 9);
  EXPECT_NEAR(read.steps[1].begin - read.steps[0].begin, 30e-6, 1e-12);
  EXPECT_NEAR(*read.steps[0].length, 20e-6, 1e-12);
}

TEST_F(Replay, RefusesAChakraTraceThatIsCutAnywhere) {
  const std::string node = wire(3, 7U) + attribute("comm_type", 9);
  const std::string whole = chakra_head + message(node) + message(node);
  EXPECT_EQ(error_of(whole), "accepted");
  for (std::size_t length = 1; length < whole.size(); ++length) {
    const bool is_between = length == chakra_head.size() || length == chakra_head.size() + message(node).size();
    EXPECT_EQ(error_of(whole.substr(0, length)) == "accepted", is_between) << length;
  }
  std::string turned = whole;
  turned[chakra_head.size() + 1] = 7;  // a wire type that is none
  EXPECT_NE(error_of(turned).find("message 2: is no node of Chakra"), std::string::npos) << error_of(turned);
}

TEST_F(Replay, SaysWhatIsWrong) {
  EXPECT_NE(error_of("[{\"comms\": \"all_reduce\",\n \"out_msg_size\": 4, \"dtype\": \"float\"}]").find("line 2"),
            std::string::npos);
  EXPECT_NE(
      error_of(R"([{"comms": "all_reduce", "out_msg_size": 4, "dtype": "float"}])").find("'in_msg_size' is missing"),
      std::string::npos);
  EXPECT_NE(error_of(R"([{"comms": "all_reduce", "in_msg_size": -4, "out_msg_size": 4, "dtype": "float"}])").find("-4"),
            std::string::npos);
  EXPECT_NE(
      error_of(R"([{"comms": "all_reduce", "in_msg_size": 4, "out_msg_size": 4, "dtype": "flat"}])").find("'flat'"),
      std::string::npos);
  EXPECT_NE(
      error_of(R"([{"comms": "all_to_all", "in_msg_size": 5, "out_msg_size": 5, "dtype": "int"}])").find("splits"),
      std::string::npos);
  EXPECT_NE(error_of(R"([{"comms": "all_reduce")").find("is the file whole?"), std::string::npos);
  EXPECT_NE(error_of("tuttrace...").find("tutti trace merge"), std::string::npos);
  EXPECT_NE(error_of("tutflght").find("TUTTI_TRACE=trace.json"), std::string::npos);
  EXPECT_NE(error_of("\x1f\x8b").find("gunzip"), std::string::npos);
  EXPECT_NE(error_of("hello").find("is no trace"), std::string::npos);
  EXPECT_NE(error_of(R"({"traceEvents": [{"ph": "X", "name": "record_param_comms", "ts": 1, "dur": 1, "args": {}}]})")
                .find("PyTorch 2.2"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"otherData":{"writer":"tutti trace"},"traceEvents":[]})").find("'communicators'"),
            std::string::npos);
  EXPECT_THROW((void)read_recording({"/no/such/trace.json"}, 0, 1), std::invalid_argument);
  (void)file("3.json", "[]");
  EXPECT_THROW((void)read_recording({folder()}, 1, 2), std::invalid_argument) << "no file of rank 1";
}

TEST_F(Replay, ShrinksBothSidesAlike) {
  const std::string text = R"([
 {"comms": "all_to_allv", "in_msg_size": 6, "out_msg_size": 6, "dtype": "int", "in_split": [1, 2, 3],
  "out_split": [1, 2, 3]},
 {"comms": "reduce", "in_msg_size": 6, "out_msg_size": 6, "dtype": "int", "root": 2, "pg_id": 1,
  "global_ranks": [2, 1, 0]},
 {"comms": "send", "src_rank": 0, "dst_rank": 2, "in_msg_size": 3, "out_msg_size": 3, "dtype": "int"}])";
  Recording read = read_recording({file("0.json", text)}, 0, 3);
  shrink(read, 0, 2);
  EXPECT_EQ(read.calls[0].exchange.send_counts, (Counts{1, 2}));
  EXPECT_EQ(read.groups[read.calls[1].group].world_ranks, (std::vector<int>{1, 0}));
  EXPECT_EQ(read.calls[1].exchange.root, 0) << "rank 2 is gone";
  EXPECT_TRUE(read.calls[2].exchange.messages.empty());
}

TEST(ReplayNames, AreThoseOfTorchAndParam) {
  for (const char* name : {"allreduce", "all_reduce", "allreduce_coalesced", "ALLREDUCE"})
    EXPECT_EQ(find_torch_call(name).operation, Operation::allreduce) << name;
  for (const char* name :
       {"_allgather_base", "all_gather_into_tensor", "allgather_into_tensor_coalesced", "all_gather"})
    EXPECT_EQ(find_torch_call(name).operation, Operation::allgather) << name;
  for (const char* name : {"_reduce_scatter_base", "reduce_scatter_tensor_coalesced", "reduce_scatter"})
    EXPECT_EQ(find_torch_call(name).operation, Operation::reduce_scatter_block) << name;
  EXPECT_EQ(find_torch_call("all_to_all_single").operation, Operation::alltoall);
  EXPECT_EQ(find_torch_call("recvAnySource").kind, TorchKind::recv);
  EXPECT_EQ(find_torch_call("frobnicate").kind, TorchKind::unknown);
  EXPECT_EQ(find_torch_type("Tensor(c10::BFloat16)"), Datatype(DatatypeKind::bfloat16));
  EXPECT_EQ(find_torch_type("Tensor(long int)"), Datatype(DatatypeKind::int64));
  EXPECT_FALSE(find_torch_type("flat"));
}

/// What goes from one rank to another lies where the other says that it begins.
TEST(ReplayShapes, OfUnevenBlocksFitTogether) {
  Exchange mine;
  mine.operation = Operation::alltoallv;
  mine.send_counts = {4, 0, 2};
  mine.recv_counts = {1, 3, 0};
  const Shape shape = shape_of(mine, {0, 3, 0}, {0, 5, 9});
  EXPECT_EQ(shape.send, 6U);
  EXPECT_EQ(shape.recv, 4U);
  EXPECT_EQ(shape.send_displs, (Counts{0, 4, 4}));
  EXPECT_EQ(shape.recv_displs, (Counts{0, 1, 4}));
  ASSERT_EQ(shape.result.size(), 3U);
  EXPECT_EQ(shape.result[1].offset, 5U);
  EXPECT_EQ(shape.result[1].length, 3U);
  mine.operation = Operation::scatterv;
  mine.root = 1;
  mine.recv_counts = {0, 3, 0};
  const Shape leaf = shape_of(mine, {0, 3, 1}, {0, 7, 0});
  EXPECT_EQ(leaf.send, 0U);
  EXPECT_EQ(leaf.recv, 3U);
  EXPECT_EQ(leaf.result.at(0).offset, 7U);
}

}  // namespace
}  // namespace tutti::commbench::replay
