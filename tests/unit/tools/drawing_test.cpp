// SPDX-License-Identifier: BSD-3-Clause
#include "tools/drawing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tutti/error.hpp>

#include "core/run_program.hpp"
#include "planner/names.hpp"
#include "schedules/registry.hpp"
#include "support.hpp"
#include "tools/protocol_view.hpp"
#include "tools/topo.hpp"

namespace {

using namespace tutti;
using namespace tutti::tools;
using detail::shm::Protocol;
using ::testing::HasSubstr;
using tools::testing::ask;

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
  gpu.name = "GPU1";
  std::swap(gpu.bus_id, gpu.nvlinks.front().bus_id);
  hardware.elements.push_back(gpu);
  return hardware;
}

/// A value of JSON a line, for draw_test.py.
void add_line(std::string& lines, const std::string& json) {
  lines += nlohmann::ordered_json::parse(json).dump() + "\n";
}

void add_answer(std::string& lines, const std::string& operation, const std::string& algorithm, int ranks, int nodes) {
  auto what = ask(operation, operation == "barrier" ? "0" : "4KiB", algorithm);
  what.ranks = ranks;
  what.nodes = nodes;
  add_line(lines, answer_json(answer(what.make()), true));
}

/// As if each round had taken 3 us on every rank.
void add_measured_answer(std::string& lines, const std::string& algorithm) {
  Answer found = answer(ask("allreduce", "4KiB", algorithm).make());
  MeasuredCall measured{.repeats = 5, .seconds = 25e-6, .clocks = "one machine, one clock", .ranks = {}};
  const std::size_t rounds = found.plan->algorithm != nullptr ? 6 : 0;
  for (int rank = 0; rank < 4; ++rank) {
    RankTimes times{.begin = 1e-6 * rank, .first = 4e-6, .ends = {}, .end = 25e-6};
    for (std::size_t i = 1; i <= rounds; ++i) times.ends.push_back(times.first + 3e-6 * static_cast<double>(i));
    measured.ranks.push_back(std::move(times));
  }
  add_measured(found, std::move(measured));
  add_line(lines, answer_json(found));
}

std::string every_drawing() {
  std::string lines;
  add_line(lines, topo_json(machine(), {}));
  for (const auto operation : all_operations) {
    const std::string name(operation_name(operation));
    for (const int ranks : {2, 5, 16})
      for (const auto& algorithm : schedules::algorithms_of(operation))
        if (schedules::fits(algorithm, ranks)) add_answer(lines, name, "mpi:" + std::string(algorithm.name), ranks, 1);
    for (const auto& candidate : answer(ask(name, name == "barrier" ? "0" : "4KiB").make()).candidates)
      if (candidate.nameable && candidate.name.starts_with("shm:")) add_answer(lines, name, candidate.name, 9, 1);
  }
  for (const char* algorithm : {"ring", "hierarchical"}) add_answer(lines, "allreduce", algorithm, 8, 2);
  for (const char* algorithm : {"ring", "shm:slots"}) add_measured_answer(lines, algorithm);
  return lines;
}

// draw_test.py looks at the drawings of all of them.
TEST(Drawing, OfEveryAlgorithmProtocolAndMachineIsRight) {
  const std::string lines = every_drawing();
  const auto end = detail::run_program({.words = {"python3", "-B", TUTTI_SOURCE_DIR "/tests/unit/tools/draw_test.py"},
                                        .input = lines,
                                        .is_quiet = false});
  if (end.error != 0) GTEST_SKIP() << "there is no python3";
  EXPECT_EQ(end.status, 0) << end.output;
}

TEST(Drawing, RefusesWhatNobodyCouldRead) {
  for (const char* algorithm : {"ring", "shm:slots"}) {
    auto what = ask("allreduce", "64", algorithm);
    what.ranks = most_drawn_ranks + 1;
    try {
      static_cast<void>(answer_json(answer(what.make()), true));
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("at most 64 are drawn"));
    }
  }
}

TEST(ProtocolView, ShowsWhoTakesFromWhom) {
  const auto view = protocol_view(Protocol::slots, ask("bcast", "1KiB").make().signature, 4);
  ASSERT_EQ(view.layers.size(), 3U);
  EXPECT_TRUE(view.layers[1].is_shared);
  EXPECT_EQ(view.steps[0].arrows.size(), 1U) << "only the root publishes";
  EXPECT_EQ(view.steps[1].arrows.size(), 3U) << "all others take";
  EXPECT_EQ(view.steps[1].move, ProtocolView::Move::load);
  EXPECT_THAT(protocol_text(view), HasSubstr("copies 1 KiB into its slot"));
  const auto scan = protocol_view(Protocol::slots, ask("scan", "1KiB").make().signature, 4);
  EXPECT_EQ(scan.steps[1].arrows.size(), 6U) << "each takes from lower ranks only";
  EXPECT_EQ(scan.steps[1].move, ProtocolView::Move::combine);
  const auto large = protocol_view(Protocol::slots, ask("allreduce", "1MiB").make().signature, 4);
  EXPECT_THAT(protocol_text(large), HasSubstr("chunks"));
  const auto tree = protocol_view(Protocol::tree, ask("reduce", "8").make().signature, 64);
  EXPECT_EQ(tree.steps[0].arrows.size(), 63U) << "each rank's line has one reader";
  const auto exchange = protocol_view(Protocol::tree, ask("allreduce", "8").make().signature, 64);
  ASSERT_EQ(exchange.steps.size(), 3U) << "groups of 4, 4 and 4";
  EXPECT_EQ(exchange.layers.size(), 4U);
  for (const auto& step : exchange.steps) EXPECT_EQ(step.arrows.size(), 64U * 3U) << "each reads the others of a group";
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
