// SPDX-License-Identifier: BSD-3-Clause
// The groups of the network that the nodes of a job lie in, where ranks know different things. Each case is a job of
// its own, because a process asks once.
#include <gtest/gtest.h>
#include <mpi.h>

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tutti/tutti.hpp>

#include "call/context.hpp"
#include "core/hash.hpp"
#include "planner/format.hpp"
#include "planner/key.hpp"

namespace tutti::test {
namespace {

using Levels = std::vector<std::vector<int>>;

int own_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

/// As Slurm does on a node of its own for each rank.
void set_address(const std::string& leaf) {
  set("SLURM_TOPOLOGY_ADDR", "top." + leaf + ".n" + std::to_string(own_rank()));
  set("SLURM_TOPOLOGY_ADDR_PATTERN", "switch.switch.node");
}

std::string leaf_of(int rank) { return rank % 2 == 0 ? "even" : "odd"; }

class NetworkGroups : public ::testing::Test {
 protected:
  void SetUp() override {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char* cliques = std::getenv("MPIR_CVAR_NUM_CLIQUES");
    if (cliques == nullptr || std::atoi(cliques) != size)
      GTEST_SKIP() << "needs MPIR_CVAR_NUM_CLIQUES, one node a rank";
    for (const char* name : {"SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR_PATTERN", "SLURM_CONF", "TUTTI_NETWORK"})
      unsetenv(name);
  }

  /// The groups of a new communicator, which all ranks must see alike.
  static Topology found() {
    const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
    const Topology& topology = comm.topology();
    EXPECT_EQ(topology.nodes, comm.size());
    detail::Hash hash;
    hash.add(topology.network_source);
    for (const std::vector<int>& level : topology.network_groups)
      for (const int group : level) hash.add(group);
    std::vector<std::uint64_t> all(static_cast<std::size_t>(comm.size()));
    const std::uint64_t mine = hash.value();
    allgather(comm, ConstBuffer(&mine, 1), all);
    for (const std::uint64_t one : all) EXPECT_EQ(one, mine);
    std::vector<int> sums(8, 1);
    allreduce(comm, sums, sum);
    EXPECT_EQ(sums, std::vector<int>(8, comm.size()));
    return topology;
  }
};

TEST_F(NetworkGroups, AreThoseOfAllNodes) {
  set_address(leaf_of(own_rank()));
  const Topology topology = found();
  EXPECT_EQ(topology.network_source, "SLURM_TOPOLOGY_ADDR");
  ASSERT_EQ(topology.network_groups.size(), 2U);
  for (int node = 0; node < topology.nodes; ++node) {
    EXPECT_EQ(topology.network_groups[0][static_cast<std::size_t>(node)], 0);
    EXPECT_EQ(topology.network_groups[1][static_cast<std::size_t>(node)], node % 2);
  }
  // A part has those of its own nodes, in its own order.
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  const Communicator part = comm.split(comm.rank() == 0 ? 0 : 1, -comm.rank());
  const std::vector<int>& leaves = part.topology().network_groups.at(1);
  ASSERT_EQ(leaves.size(), static_cast<std::size_t>(part.size()));
  for (std::size_t i = 0; i < leaves.size(); ++i) EXPECT_EQ(leaves[i], static_cast<int>(i) % 2);
  EXPECT_EQ(part.topology().network_source, "SLURM_TOPOLOGY_ADDR");
}

TEST_F(NetworkGroups, AreUnknownWhereANodeHasNone) {
  if (own_rank() != 1) set_address(leaf_of(own_rank()));
  const Topology topology = found();
  EXPECT_EQ(topology.network_source, "");
  EXPECT_TRUE(topology.network_groups.empty());
}

TEST_F(NetworkGroups, AreUnknownWhereANodeHasGarbage) {
  set_address(leaf_of(own_rank()));
  if (own_rank() == 1) set("SLURM_TOPOLOGY_ADDR", "\xff[");
  EXPECT_TRUE(found().network_groups.empty());
}

TEST_F(NetworkGroups, ComeFromTheFirstSourceThatAllNodesHave) {
  set_address(leaf_of(own_rank()));
  // A file that only rank 0 can read.
  const std::string file = "network_groups." + std::to_string(getpid()) + ".conf";
  if (own_rank() == 0) {
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    std::ofstream(file) << "SwitchName=one Nodes=" << host.data() << '\n';
  }
  set("TUTTI_NETWORK", file);
  EXPECT_EQ(found().network_source, "SLURM_TOPOLOGY_ADDR");
  std::filesystem::remove(file);
}

TEST_F(NetworkGroups, AreUnknownWhereOneRankHasSwitchedThemOff) {
  set_address(leaf_of(own_rank()));
  if (own_rank() == 1) set("TUTTI_NETWORK", "off");
  EXPECT_TRUE(found().network_groups.empty());
}

TEST_F(NetworkGroups, AreAsDeepAsOnEveryNode) {
  set_address(leaf_of(own_rank()));
  if (own_rank() == 1) {
    set("SLURM_TOPOLOGY_ADDR", "top.n1");
    set("SLURM_TOPOLOGY_ADDR_PATTERN", "switch.node");
  }
  const Topology topology = found();
  EXPECT_EQ(topology.network_groups, Levels(1, std::vector<int>(static_cast<std::size_t>(topology.nodes), 0)));
}

/// Links that were measured by group on this machine: 1 us within one, 2 us between two.
std::string table_of(const Topology& topology) {
  detail::Links links;
  links[detail::LinkLevel::network] = {2e-6, 2e-7, 8e9, 8e9, 8e9};
  links.fabric.at = {{{1e-6, 8e9}, {2e-6, 8e9}}};
  links.fabric.everywhere = 8e9;
  links.fabric.by_group = {{{1e-6, 0, 0}, {2e-6, 0, 0}}};
  return detail::tuning::print({{detail::tuning::key_of(topology), {}, links}});
}

// Nodes next to one another are in different groups, and every second one in the same.
TEST_F(NetworkGroups, OrderTheFiguresOfLinks) {
  set_address(leaf_of(own_rank()));
  const Topology topology = found();
  const std::string file = "network_groups." + std::to_string(topology.nodes) + ".json";
  if (own_rank() == 0) {
    std::ofstream(file) << table_of(topology);
    set("TUTTI_TUNING", file);
  }
  const Communicator whole = Communicator::duplicate(MPI_COMM_WORLD);
  const Communicator again = Communicator::duplicate(MPI_COMM_WORLD);
  for (const Communicator* comm : {&whole, &again}) {
    const detail::Fabric fabric = links_of(comm->state()->machine()).fabric;
    EXPECT_EQ(fabric.at[0], (detail::Fabric::Distance{2e-6, 8e9}));
    EXPECT_EQ(fabric.at[1], topology.nodes > 2 ? (detail::Fabric::Distance{1e-6, 8e9}) : detail::Fabric::Distance{});
  }
  if (own_rank() == 0) std::filesystem::remove(file);
}

}  // namespace
}  // namespace tutti::test
