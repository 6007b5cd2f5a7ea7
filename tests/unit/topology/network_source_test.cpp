// SPDX-License-Identifier: BSD-3-Clause
#include "topology/network_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>

namespace {

using namespace tutti::detail;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(HostList, HasTheNamesOfItsRanges) {
  const std::string_view list = "login,tux[0-3,12,018-020],rack[1-2]node[08-11]x,gpu[7]";
  for (const char* name :
       {"login", "tux0", "tux3", "tux12", "tux018", "tux020", "rack2node08x", "rack1node11x", "gpu7"})
    EXPECT_TRUE(host_list_has(list, name)) << name;
  for (const char* name : {"", "tux", "tux4", "tux00", "tux012", "tux18", "tux0018", "tux1x", "rack3node08x",
                           "rack1node8x", "rack1node08", "gpu", "gpu77", "login1", "logi", "tux[0-3", "3"})
    EXPECT_FALSE(host_list_has(list, name)) << name;
  EXPECT_TRUE(host_list_has("n[1-2][0-9]", "n13")) << "digits of both brackets";
  EXPECT_TRUE(host_list_has("n[8-11]", "n10"));
  EXPECT_TRUE(host_list_has("n[98-101]", "n100"));
  EXPECT_FALSE(host_list_has("n[098-101]", "n99"));
}

TEST(HostList, OfGarbageHasNothing) {
  for (const char* list : {"", ",", "[", "]", "n[", "n]", "n[]", "n[a-b]", "n[3-1]", "n[-]", "n[1-", "n[[1]]",
                           "n[1-2-3]", "n[99999999999999999999999-1]"})
    for (const char* name : {"n1", "n2", "n", "", "1"}) EXPECT_FALSE(host_list_has(list, name)) << list << " " << name;
}

TEST(SlurmAddress, NamesSwitchesFromTheTopDown) {
  EXPECT_THAT(path_of_address("s0.s4.s8.tux1", "switch.switch.switch.node").groups, ElementsAre("s0", "s4", "s8"));
  EXPECT_THAT(path_of_address("sh04.sh04-isw-16.sh04-16n05", "switch.switch.node").groups,
              ElementsAre("sh04", "sh04-isw-16"));
  EXPECT_THAT(path_of_address("s0.s[1-2].tux1", "switch.switch.node").groups, ElementsAre("s0", "s[1-2]"));
}

TEST(SlurmAddress, MayLackASwitchAboveAll) {
  const NetworkPath path = path_of_address(".ib-core.tors-r1pac16.gpu027", "switch.switch.switch.node");
  EXPECT_THAT(path.groups, ElementsAre("", "ib-core", "tors-r1pac16"));
  EXPECT_EQ(path.problem, "");
}

TEST(SlurmAddress, NamesBlocks) { EXPECT_THAT(path_of_address("b8.tux1", "block.node").groups, ElementsAre("b8")); }

TEST(SlurmAddress, HasPlanesAndLinesOfATorus) {
  const NetworkPath path = path_of_address("grid:3:0:12.tux1", "torus:x:y:z.node");
  EXPECT_THAT(path.groups, ElementsAre("grid", "grid:3", "grid:3:0"));
}

TEST(SlurmAddress, OfANodeAloneHasNoGroups) {
  for (const char* name : {"c4-n10", "localhost.localdomain"}) EXPECT_EQ(path_of_address(name, "node"), NetworkPath{});
  EXPECT_EQ(path_of_address("", ""), NetworkPath{});
  EXPECT_THAT(path_of_address("s1.node.cluster.org", "switch.node").groups, ElementsAre("s1")) << "a name with dots";
}

TEST(SlurmAddress, ThatDoesNotFitItsPatternIsLeftOutWithWords) {
  struct Case {
    const char* address;
    const char* pattern;
  };
  for (const auto& [address, pattern] :
       {Case{"s0.s4.tux1", ""}, Case{"", "switch.node"}, Case{"tux1", "switch.node"}, Case{"s0.tux1", "switch.switch"},
        Case{"s0.", "switch.node"}, Case{"grid:1:2.tux", "torus:x:y:z.node"}}) {
    const NetworkPath path = path_of_address(address, pattern);
    EXPECT_THAT(path.groups, IsEmpty()) << address;
    EXPECT_THAT(path.problem, HasSubstr("does not fit the pattern")) << address;
  }
}

/// As the manual page of topology.conf has it, with the freedom that it gives.
constexpr const char* tree = R"(# Slurm's network
SwitchName=s0 Nodes=tux[0-3]   # a leaf
switchname=s1 nodes=tux[4-7],lux[01-10] LinkSpeed=100
SwitchName=s2 Nodes=tux[8-9],\
tux[10-11]
	SwitchName=s3	Switches=s[0-1]
SwitchName=s4 Switches=s2
SwitchName=s5 Switches=s[3-4]
)";

TEST(SlurmFile, LeadsFromANodeToTheTop) {
  EXPECT_THAT(path_in_slurm_file(tree, "tux2").groups, ElementsAre("s5", "s3", "s0"));
  EXPECT_THAT(path_in_slurm_file(tree, "lux08").groups, ElementsAre("s5", "s3", "s1"));
  EXPECT_THAT(path_in_slurm_file(tree, "tux11").groups, ElementsAre("s5", "s4", "s2"));
  EXPECT_THAT(path_in_slurm_file("SwitchName=one\r\nSwitchName=s0 Nodes=a\r\n", "a").groups, ElementsAre("s0"));
}

TEST(SlurmFile, HasBlocks) {
  const char* blocks = "BlockName=b1 Nodes=node[01-18]\nBlockName=b2 Nodes=node[19-36]\nBlockSizes=18,36\n";
  EXPECT_THAT(path_in_slurm_file(blocks, "node19").groups, ElementsAre("b2"));
}

TEST(SlurmFile, SaysWhatItLacks) {
  EXPECT_THAT(path_in_slurm_file(tree, "tux12").problem, HasSubstr("does not name the node 'tux12'"));
  EXPECT_THAT(path_in_slurm_file("", "a").problem, HasSubstr("no line with SwitchName"));
  EXPECT_THAT(path_in_slurm_file("---\n- topology: tree\n", "a").problem, HasSubstr("no line with SwitchName"));
  const NetworkPath loop = path_in_slurm_file("SwitchName=a Nodes=n Switches=b\nSwitchName=b Switches=a\n", "n");
  EXPECT_THAT(loop.groups, IsEmpty());
  EXPECT_THAT(loop.problem, HasSubstr("above itself"));
}

TEST(Xname, HasCabinetAndChassis) {
  EXPECT_THAT(path_of_xname("x1000c0s3b1n0").groups, ElementsAre("x1000", "x1000c0"));
  EXPECT_THAT(path_of_xname("x9999c7s7b1n1").groups, ElementsAre("x9999", "x9999c7"));
  EXPECT_THAT(path_of_xname("c3-0c2s15n3").groups, ElementsAre("c3-0", "c3-0c2", "c3-0c2s15"));
  for (const char* name : {"", "x", "x1000", "x1000c0s3b1", "x1000c0s3b1n", "x1000c0s3b1n0x", "xc0s3b1n0", "nid001234",
                           "c4-n10", "c3-0c2s15", "c3-0c2s15n", "c-0c2s15n3"})
    EXPECT_EQ(path_of_xname(name), NetworkPath{}) << name;
}

// Whatever a file or a variable holds, it is a path or words.
TEST(NetworkSource, TakesAnyText) {
  std::mt19937 random(7);
  const std::string letters = "SwitchName= Nodes=[]-,.:\\#\nsxc0123456789";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = i % 2 == 0 ? tree : "";
    for (int changes = 0; changes < 12; ++changes) {
      const char letter = letters[random() % letters.size()];
      if (text.empty() || random() % 2 == 0)
        text.insert(text.begin() + static_cast<std::ptrdiff_t>(random() % (text.size() + 1)), letter);
      else
        text[random() % text.size()] = letter;
    }
    for (const NetworkPath& path : {path_in_slurm_file(text, "tux2"), path_of_address(text, "switch.switch.node"),
                                    path_of_address("s0.tux2", text), path_of_xname(text)})
      EXPECT_TRUE(path.groups.empty() || path.problem.empty()) << text;
  }
}

/// A folder in place of the root, and variables as they were afterwards.
class Files : public ::testing::Test {
 protected:
  Files() : root_(std::filesystem::temp_directory_path() / ("tutti_network_" + std::to_string(getpid()))) {
    for (const char* name : {"TUTTI_NETWORK", "SLURM_CONF", "SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR_PATTERN"})
      unsetenv(name);
    setenv("SLURMD_NODENAME", "tux5", 1);
  }
  ~Files() override {
    std::filesystem::remove_all(root_);
    unsetenv("SLURMD_NODENAME");
    unsetenv("TUTTI_NETWORK");
    unsetenv("SLURM_CONF");
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  std::string write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  [[nodiscard]] NetworkPath of(NetworkSource source) const {
    return network_paths(root_)[static_cast<std::size_t>(source)];
  }

  std::filesystem::path root_;
};

TEST_F(Files, AreReadWhereSlurmHasThem) {
  EXPECT_EQ(network_paths(root_), NetworkPaths{});
  write("etc/slurm/topology.conf", tree);
  EXPECT_THAT(of(NetworkSource::slurm_file).groups, ElementsAre("s5", "s3", "s1"));
  setenv("SLURM_CONF", write("other/slurm.conf", "").c_str(), 1);
  EXPECT_EQ(of(NetworkSource::slurm_file), NetworkPath{});
  write("other/topology.conf", "SwitchName=x Nodes=tux5\n");
  EXPECT_THAT(of(NetworkSource::slurm_file).groups, ElementsAre("x"));
  write("other/topology.yaml", "");
  EXPECT_THAT(of(NetworkSource::slurm_file).problem, HasSubstr("topology.yaml"));
}

TEST_F(Files, AreReadWhereTheVariableSays) {
  setenv("TUTTI_NETWORK", write("mine.conf", "SwitchName=y Nodes=tux[1-5]\n").c_str(), 1);
  EXPECT_THAT(of(NetworkSource::given).groups, ElementsAre("y"));
  setenv("TUTTI_NETWORK", (root_ / "none.conf").c_str(), 1);
  EXPECT_THAT(of(NetworkSource::given).problem, HasSubstr("none.conf: it cannot be read"));
  write("etc/slurm/topology.conf", tree);
  setenv("TUTTI_NETWORK", "off", 1);
  EXPECT_EQ(network_paths(root_), NetworkPaths{});
}

TEST_F(Files, HaveTheNameOfAMachineOfCray) {
  write("proc/cray_xt/cname", "c3-0c2s15n3\n");
  EXPECT_THAT(of(NetworkSource::xname).groups, ElementsAre("c3-0", "c3-0c2", "c3-0c2s15"));
  write("etc/cray/xname", "x1000c0s3b1n0\n");
  EXPECT_THAT(of(NetworkSource::xname).groups, ElementsAre("x1000", "x1000c0"));
}

}  // namespace
