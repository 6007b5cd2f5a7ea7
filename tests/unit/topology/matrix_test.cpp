// SPDX-License-Identifier: BSD-3-Clause
#include "topology/matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tutti/error.hpp>

namespace {

using namespace tutti::detail;
using ::testing::HasSubstr;
using ::testing::Not;

Hardware two_sockets() { return machine_from_xml(std::string(TUTTI_TEST_FOLDER) + "/two_sockets.xml"); }

std::size_t index_of(const Hardware& hardware, std::string_view name) {
  for (std::size_t i = 0; i < hardware.elements.size(); ++i)
    if (hardware.elements[i].name == name) return i;
  ADD_FAILURE() << "no element " << name;
  return 0;
}

std::string between(const Hardware& hardware, std::string_view a, std::string_view b) {
  return to_text(relation(hardware, index_of(hardware, a), index_of(hardware, b)));
}

std::vector<std::string> names(const Hardware& hardware) {
  std::vector<std::string> all;
  for (const Element& element : hardware.elements) all.push_back(element.name);
  return all;
}

TEST(Hardware, FindsTheDevicesOfTwoSockets) {
  EXPECT_THAT(names(two_sockets()),
              ::testing::ElementsAre("core 0", "core 1", "core 2", "core 3", "core 4", "core 5", "core 6", "core 7",
                                     "NUMA 0", "NUMA 1", "GPU0", "GPU1", "GPU2", "GPU3", "mlx5_0", "mlx5_1"));
}

TEST(Hardware, TellsWhatADeviceIsAndWhere) {
  const Hardware hardware = two_sockets();
  const Element& gpu = hardware.elements[index_of(hardware, "GPU3")];
  EXPECT_EQ(gpu.bus_id, "0000:a1:00.0");
  EXPECT_EQ(gpu.numas, std::vector<int>{1});
  EXPECT_EQ(gpu.detail, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu.bridges.size(), 2U);
  const Element& nic = hardware.elements[index_of(hardware, "mlx5_0")];
  EXPECT_EQ(nic.detail, "Mellanox Technologies MT2910 Family [ConnectX-7], also ib0");
  EXPECT_EQ(hardware.hosts, std::vector<std::string>{"node17"});
}

TEST(Hardware, NamesTheFileThatCannotBeRead) {
  try {
    static_cast<void>(machine_from_xml("/nowhere/machine.xml"));
    FAIL() << "no error";
  } catch (const tutti::Error& error) {
    EXPECT_EQ(error.code(), tutti::ErrorCode::io);
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/machine.xml"));
  }
}

TEST(Hardware, ReadsTheMachineItRunsOn) {
  const Hardware hardware = this_machine();
  ASSERT_FALSE(hardware.elements.empty());
  EXPECT_EQ(hardware.elements.front().kind, ElementKind::core);
  EXPECT_FALSE(hardware.hosts.front().empty());
}

TEST(Matrix, PciLevelsAreThoseOfNvidiaSmi) {
  const Hardware hardware = two_sockets();
  EXPECT_EQ(between(hardware, "GPU0", "GPU0"), "X");
  EXPECT_EQ(between(hardware, "GPU0", "mlx5_0"), "PIX") << "two ports of one switch";
  EXPECT_EQ(between(hardware, "GPU1", "mlx5_0"), "PXB") << "a switch below a switch";
  EXPECT_EQ(between(hardware, "GPU0", "GPU1"), "PXB");
  EXPECT_EQ(between(hardware, "GPU2", "mlx5_1"), "PHB") << "two root ports of one host bridge";
  EXPECT_EQ(between(hardware, "GPU2", "GPU3"), "NODE") << "two host bridges of one NUMA node";
  EXPECT_EQ(between(hardware, "GPU0", "GPU2"), "SYS");
}

TEST(Matrix, CoresMeetInCachesAndNumaNodes) {
  const Hardware hardware = two_sockets();
  EXPECT_EQ(between(hardware, "core 0", "core 3"), "L3");
  EXPECT_EQ(between(hardware, "core 0", "core 4"), "SYS");
  EXPECT_EQ(between(hardware, "core 5", "NUMA 1"), "NODE");
  EXPECT_EQ(between(hardware, "core 5", "NUMA 0"), "SYS");
  EXPECT_EQ(between(hardware, "NUMA 0", "NUMA 1"), "SYS");
  EXPECT_EQ(between(hardware, "core 0", "GPU0"), "PHB");
  EXPECT_EQ(between(hardware, "core 0", "GPU2"), "SYS");
  const Hardware split = machine_from_synthetic("numa:1 l3:2 core:2 pu:2");
  EXPECT_EQ(between(split, "core 0", "core 1"), "L3");
  EXPECT_EQ(between(split, "core 1", "core 2"), "NODE");
}

TEST(Matrix, IsSymmetric) {
  const Hardware hardware = two_sockets();
  for (std::size_t a = 0; a < hardware.elements.size(); ++a)
    for (std::size_t b = 0; b < hardware.elements.size(); ++b)
      EXPECT_EQ(relation(hardware, a, b), relation(hardware, b, a))
          << hardware.elements[a].name << " " << hardware.elements[b].name;
}

TEST(Matrix, NvlinksAreCounted) {
  Hardware hardware = two_sockets();
  hardware.elements[index_of(hardware, "GPU0")].nvlinks = {{"0000:1d:00.0", 4}, {"0000:81:00.0", 18}};
  EXPECT_EQ(between(hardware, "GPU0", "GPU1"), "NV4");
  EXPECT_EQ(between(hardware, "GPU2", "GPU0"), "NV18");
  EXPECT_EQ(between(hardware, "GPU0", "GPU3"), "SYS");
}

/// Ranks 0 and 1 on one core, 2 on another of its L3, 3 on the other socket, 4 unbound; 5 on another node.
tutti::Topology six_ranks() {
  tutti::Topology topology;
  topology.nodes = 2;
  topology.places = {{0, 0, 0, 0, 1, 1}, {0, 1, 0, 0, 1, 1},    {0, 2, 0, 0, 2, 1},
                     {0, 3, 1, 1, 4, 1}, {0, 4, -1, -1, -1, 8}, {1, 0, 0, 0, 1, 1}};
  return topology;
}

TEST(Matrix, RanksStandWhereTheyAreBound) {
  const Hardware hardware = join_nodes({two_sockets(), two_sockets()}, six_ranks());
  EXPECT_EQ(between(hardware, "rank 0", "rank 1"), "CORE");
  EXPECT_EQ(between(hardware, "rank 0", "rank 2"), "L3");
  EXPECT_EQ(between(hardware, "rank 0", "rank 3"), "SYS");
  EXPECT_EQ(between(hardware, "rank 0", "rank 4"), "SYS") << "the farthest place of an unbound rank counts";
  EXPECT_EQ(between(hardware, "rank 0", "rank 5"), "NET");
  EXPECT_EQ(between(hardware, "rank 0", "n0/core 1"), "CORE");
  EXPECT_EQ(between(hardware, "rank 0", "n1/core 1"), "NET");
  EXPECT_EQ(between(hardware, "rank 3", "n0/mlx5_1"), "PHB");
  EXPECT_EQ(between(hardware, "rank 4", "n0/mlx5_1"), "SYS");
  EXPECT_EQ(between(hardware, "n0/GPU0", "n1/GPU0"), "NET");
}

TEST(Matrix, UnboundRanksNeedNotMeetInANumaNode) {
  tutti::Topology topology;
  topology.nodes = 1;
  topology.places = {{0, 0, -1, -1, -1, 8}, {0, 1, -1, -1, -1, 8}};
  EXPECT_EQ(between(join_nodes({two_sockets()}, topology), "rank 0", "rank 1"), "SYS");
}

TEST(Matrix, CoresOfTwoCachesOfANumaNodeAreTwoElements) {
  const Hardware grouped = group_cores(machine_from_synthetic("numa:1 l3:2 core:2 pu:2"));
  EXPECT_EQ(between(grouped, "cores 0-1", "cores 2-3"), "NODE");
}

TEST(Matrix, CoresOfACacheCanBeOneElement) {
  const Hardware grouped = group_cores(join_nodes({two_sockets(), two_sockets()}, six_ranks()));
  EXPECT_EQ(between(grouped, "rank 2", "n0/cores 0-3"), "L3");
  EXPECT_EQ(between(grouped, "rank 2", "n0/cores 4-7"), "SYS");
  EXPECT_EQ(between(grouped, "n0/cores 0-3", "n1/cores 0-3"), "NET");
  EXPECT_EQ(summary(grouped), "2 nodes, 6 ranks, 16 cores, 4 NUMA nodes, 8 GPUs, 4 NICs");
}

TEST(MatrixText, HasRowsListAndLegend) {
  const Hardware hardware = keep_kinds(two_sockets(), {ElementKind::gpu, ElementKind::nic});
  const std::string text = matrix_text(hardware);
  EXPECT_THAT(text, HasSubstr("        GPU0  GPU1  GPU2  GPU3  mlx5_0  mlx5_1\n"));
  EXPECT_THAT(text, HasSubstr("GPU0    X     PXB   SYS   SYS   PIX     SYS\n"));
  EXPECT_THAT(text, HasSubstr("0000:82:00.0"));
  EXPECT_THAT(text, Not(HasSubstr("core 0")));
  for (const LegendEntry& entry : link_legend()) EXPECT_THAT(text, HasSubstr(std::string(entry.meaning)));
}

TEST(MatrixText, ManyElementsOfSeveralNodesAreShownNodeByNode) {
  const Hardware one = two_sockets();
  EXPECT_THAT(matrix_text(join_nodes({one, one}, {})), Not(HasSubstr("Node 1 (node17)")));
  EXPECT_THAT(matrix_text(join_nodes({one, one, one}, {})), HasSubstr("Node 2 (node17)\n"));
}

}  // namespace
