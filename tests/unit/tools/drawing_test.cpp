// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "planner/names.hpp"
#include "schedules/registry.hpp"
#include "support.hpp"
#include "support/svg_texts.hpp"
#include "tools/protocol_drawing.hpp"
#include "tools/schedule_drawing.hpp"
#include "tools/timeline.hpp"
#include "tools/topo.hpp"

namespace {

using namespace tutti;
using namespace tutti::tools;
using svg::testing::text_faults;
using ::testing::HasSubstr;
using tools::testing::ask;
using tools::testing::count_of;
using tools::testing::xml_fault;

std::vector<schedules::Schedule> schedules(const std::string& operation, const std::string& name, int ranks,
                                           const std::string& bytes = "4096") {
  auto what = ask(operation, bytes);
  what.ranks = ranks;
  const Case call = what.make();
  const auto* algorithm = schedules::find_algorithm(call.signature.operation, name);
  if (algorithm == nullptr) throw std::invalid_argument(name);
  return schedules_of(call, *algorithm);
}

TEST(Timeline, ARingGoesRoundInTwiceItsRanksButTwoSteps) {
  const Timeline timeline = timeline_of(schedules("allreduce", "ring", 8));
  EXPECT_EQ(timeline.steps, 14U);
  EXPECT_EQ(timeline.messages.size(), 8U * 14U);
  for (const TimedMessage& message : timeline.messages) {
    EXPECT_EQ(message.to, (message.from + 1) % 8);
    EXPECT_EQ(message.leaves, message.arrives);
  }
  EXPECT_EQ(timeline.locals.size(), 8U * 7U);
}

TEST(Timeline, AChainIsOneRankAfterTheOther) {
  const Timeline timeline = timeline_of(schedules("scan", "linear", 5));
  std::vector<std::size_t> leaves(5);
  for (const TimedMessage& message : timeline.messages) leaves[static_cast<std::size_t>(message.from)] = message.leaves;
  for (std::size_t rank = 1; rank + 1 < 5; ++rank) EXPECT_EQ(leaves[rank], leaves[rank - 1] + 1);
}

// A rank combines in the step in which the message arrives, not in the next one.
TEST(Timeline, LocalWorkIsDoneInTheStepOfItsRound) {
  const Timeline timeline = timeline_of(schedules("allreduce", "ring", 8));
  std::vector<std::vector<std::size_t>> steps(8);
  for (const auto& local : timeline.locals) steps[static_cast<std::size_t>(local.rank)].push_back(local.step);
  for (const auto& of_rank : steps) EXPECT_THAT(of_rank, ::testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6));
}

TEST(Timeline, RefusesSchedulesThatDoNotFit) {
  std::vector<schedules::Schedule> pair(2);
  pair[0].rounds.push_back({{{schedules::Transfer::Kind::send, 1, {}}}, {}});
  EXPECT_THROW(static_cast<void>(timeline_of(pair)), Error);
  // Each waits for the other before it sends.
  const auto recv_then_send = [](int peer) {
    schedules::Schedule one;
    one.rounds.push_back({{{schedules::Transfer::Kind::recv, peer, {}}}, {}});
    one.rounds.push_back({{{schedules::Transfer::Kind::send, peer, {}}}, {}});
    return one;
  };
  pair = {recv_then_send(1), recv_then_send(0)};
  EXPECT_THROW(static_cast<void>(timeline_of(pair)), Error);
}

TEST(ScheduleDrawing, HasAColumnARankAndAnArrowAMessage) {
  const auto all = schedules("allreduce", "ring", 4);
  const std::string text = schedule_drawing(all, {"ring <of four>", "sum", 4, {}}).str();
  EXPECT_EQ(xml_fault(text), "");
  for (int rank = 0; rank < 4; ++rank) EXPECT_THAT(text, HasSubstr(">rank " + std::to_string(rank) + "</text>"));
  EXPECT_THAT(text, HasSubstr(">round 5</text>"));
  EXPECT_EQ(count_of(text, "sends "), 24U) << "each arrow carries the tooltip of its message";
  EXPECT_EQ(count_of(text, ">4 × 1 KiB</text>"), 6U);
  EXPECT_THAT(text, HasSubstr("combine (sum)"));
}

TEST(ScheduleDrawing, EveryAlgorithmCanBeDrawn) {
  for (const auto operation : all_operations)
    for (const int ranks : {2, 5, 16})
      for (const auto& algorithm : schedules::algorithms_of(operation)) {
        if (!schedules::fits(algorithm, ranks)) continue;
        const auto all = schedules(std::string(operation_name(operation)), std::string(algorithm.name), ranks);
        const std::string text = schedule_drawing(all, {"all", "sum", 4, {}}).str();
        EXPECT_EQ(xml_fault(text), "") << operation_name(operation) << " " << algorithm.name << " " << ranks;
        EXPECT_EQ(text_faults(text), "") << operation_name(operation) << " " << algorithm.name << " " << ranks;
      }
}

TEST(ScheduleDrawing, LabelsArrowsOnlyWhereSizesDiffer) {
  const auto uniform = schedule_drawing(schedules("allreduce", "ring", 8, "1MiB"), {"ring", "sum", 4, {}}).str();
  EXPECT_EQ(count_of(uniform, ">128 KiB</text>"), 0U) << "the words beside each round say it";
  const auto mixed = schedule_drawing(schedules("gather", "binomial", 8, "1KiB"), {"tree", "", 4, {}}).str();
  EXPECT_GE(count_of(mixed, " KiB</text>"), 3U);
  const auto trees = schedule_drawing(schedules("allreduce", "double_tree", 8, "1MiB"), {"trees", "sum", 4, {}}).str();
  EXPECT_EQ(text_faults(trees), "");
}

TEST(ScheduleDrawing, TheCheckOfTheseTestsFindsFaults) {
  svg::Document drawing(200, 100, "t");
  drawing.text({20, 20}, "one", {.size = 12}).begin_group("g", {0, 40}).text({20, 20}, "two", {.size = 12}).end_group();
  EXPECT_EQ(text_faults(drawing.str()), "");
  drawing.begin_group("g", {5, 2}).text({20, 20}, "over", {.size = 12}).end_group();
  EXPECT_THAT(text_faults(drawing.str()), HasSubstr("'one' is over 'over'"));
  drawing.text({190, 90}, "a long text", {.size = 12});
  EXPECT_THAT(text_faults(drawing.str()), HasSubstr("'a long text' leaves the drawing"));
}

TEST(ScheduleDrawing, TellsNodesApart) {
  const std::vector<int> node_of = {0, 0, 1, 1};
  const auto all = schedules("allreduce", "ring", 4);
  const std::string text = schedule_drawing(all, {"ring", "sum", 4, node_of}).str();
  EXPECT_EQ(text_faults(text), "");
  EXPECT_THAT(text, HasSubstr("between nodes"));
  EXPECT_EQ(count_of(text, ">node 1</text>"), 2U);
}

TEST(ScheduleDrawing, RefusesWhatNobodyCouldRead) {
  const std::vector<schedules::Schedule> many(65);
  try {
    static_cast<void>(schedule_drawing(many, {"many", "", 1, {}}));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("at most 64 ranks"));
  }
}

TEST(ProtocolDrawing, ShowsWhoTakesFromWhom) {
  using detail::shm::Protocol;
  const auto view = protocol_view(Protocol::slots, ask("bcast", "1KiB").make().signature, 4);
  ASSERT_EQ(view.layers.size(), 3U);
  EXPECT_TRUE(view.layers[1].is_shared);
  EXPECT_EQ(view.steps[0].arrows.size(), 1U) << "only the root publishes";
  EXPECT_EQ(view.steps[1].arrows.size(), 3U) << "all others take";
  EXPECT_THAT(protocol_text(view), HasSubstr("copies 1 KiB into its slot"));
  const auto scan = protocol_view(Protocol::slots, ask("scan", "1KiB").make().signature, 4);
  EXPECT_EQ(scan.steps[1].arrows.size(), 6U) << "each takes from lower ranks only";
  const auto large = protocol_view(Protocol::slots, ask("allreduce", "1MiB").make().signature, 4);
  EXPECT_THAT(protocol_text(large), HasSubstr("chunks"));
  const auto tree = protocol_view(Protocol::tree, ask("allreduce", "8").make().signature, 64);
  EXPECT_EQ(tree.steps[0].arrows.size(), 63U) << "each rank's line has one reader";
  EXPECT_EQ(tree.steps[1].arrows.size(), 63U);
}

TEST(ProtocolDrawing, EveryOperationCanBeDrawn) {
  using detail::shm::Protocol;
  for (const auto operation : all_operations)
    for (const Protocol protocol :
         {Protocol::automatic, Protocol::line, Protocol::slots, Protocol::single_copy, Protocol::tree}) {
      auto what = ask(std::string(operation_name(operation)), "64");
      what.ranks = 9;
      const auto view = protocol_view(protocol, what.make().signature, 9);
      EXPECT_EQ(view.steps.size() + 1, view.layers.size());
      const std::string text = protocol_drawing(view, "a protocol").str();
      EXPECT_EQ(xml_fault(text), "") << operation_name(operation);
      EXPECT_EQ(text_faults(text), "") << operation_name(operation) << " " << static_cast<int>(protocol);
    }
}

detail::Hardware machine() {
  auto hardware = detail::machine_from_synthetic("numa:2 l3:1 core:2 pu:1");
  detail::Element gpu;
  gpu.kind = detail::ElementKind::gpu;
  gpu.name = "GPU0";
  gpu.detail = "a \"model\" <x> & y";
  gpu.numas = {1};
  gpu.bus_id = "0000:17:00.0";
  gpu.bridges = {7, 9};
  gpu.nvlinks = {{"0000:18:00.0", 4}};
  hardware.elements.push_back(gpu);
  return hardware;
}

TEST(TopoDrawing, IsAColouredMatrix) {
  const std::string text = topo_drawing(machine()).str();
  EXPECT_EQ(xml_fault(text), "");
  EXPECT_EQ(text_faults(text), "");
  EXPECT_THAT(text, HasSubstr("<title>core 0 – GPU0: SYS</title>"));
  EXPECT_EQ(count_of(text, ">X</text>"), 7U + 1U) << "the diagonal, and the legend";
}

TEST(TopoJson, ComesBackAsItWas) {
  const detail::Hardware hardware = machine();
  const detail::Hardware again = hardware_from_json(hardware_to_json(hardware));
  EXPECT_EQ(hardware_to_json(again), hardware_to_json(hardware));
  const auto& gpu = again.elements.back();
  EXPECT_EQ(gpu.kind, detail::ElementKind::gpu);
  EXPECT_EQ(gpu.bridges, (std::vector<std::uint64_t>{7, 9}));
  EXPECT_EQ(gpu.nvlinks.front().count, 4);
  EXPECT_EQ(gpu.detail, hardware.elements.back().detail);
  EXPECT_EQ(detail::matrix_text(again), detail::matrix_text(hardware));
}

}  // namespace
