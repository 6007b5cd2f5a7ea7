// SPDX-License-Identifier: BSD-3-Clause
#include "core/network.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;
using Family = Network::Family;

/// What Linux has below /sys/class, as far as a test writes it.
class Networks : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(classes_); }
  void TearDown() override { fs::remove_all(classes_); }
  void add(const std::string& file, const std::string& text) {
    fs::create_directories((classes_ / file).parent_path());
    std::ofstream(classes_ / file) << text << '\n';
  }
  fs::path classes_ = fs::temp_directory_path() / ("tutti-networks-" + std::to_string(::getpid()));
};

TEST_F(Networks, NothingIsUnknown) {
  EXPECT_EQ(find_network(classes_), Network{});
  EXPECT_EQ(find_network(classes_ / "missing"), Network{});
}

TEST_F(Networks, TheFastestPortCounts) {
  add("infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)");
  add("infiniband/mlx5_1/ports/1/rate", "200 Gb/sec (4X HDR)");
  EXPECT_EQ(find_network(classes_), (Network{Family::infiniband, 200}));
}

TEST_F(Networks, ARateMayHaveAFraction) {
  add("infiniband/mthca0/ports/1/rate", "2.5 Gb/sec (1X SDR)");
  EXPECT_EQ(find_network(classes_), (Network{Family::infiniband, 2}));
}

TEST_F(Networks, AFabricComesBeforeEthernet) {
  add("net/eth0/speed", "400000");
  EXPECT_EQ(find_network(classes_), (Network{Family::ethernet, 400}));
  add("net/hsn0/speed", "200000");
  EXPECT_EQ(find_network(classes_), (Network{Family::slingshot, 200}));
  add("infiniband/hfi1_0/ports/1/rate", "100 Gb/sec (4X EDR)");
  EXPECT_EQ(find_network(classes_), (Network{Family::omni_path, 100}));
}

TEST_F(Networks, InterfacesWithoutASpeedAreNone) {
  add("net/lo/speed", "1000000");
  add("net/eth0/speed", "-1");
  add("net/eth1/operstate", "down");
  EXPECT_EQ(find_network(classes_), Network{});
}

TEST(Network, TheSlowerOfTwo) {
  const Network hdr{Family::infiniband, 200};
  const Network edr{Family::infiniband, 100};
  const Network ethernet{Family::ethernet, 400};
  EXPECT_EQ(slower(hdr, edr), edr);
  EXPECT_EQ(slower(edr, hdr), edr);
  EXPECT_EQ(slower(hdr, ethernet), ethernet);
  EXPECT_EQ(slower(ethernet, hdr), ethernet);
  EXPECT_EQ(slower(hdr, {}), Network{});
}

TEST(Network, FiguresFollowTheRate) {
  EXPECT_DOUBLE_EQ(figures_of({Family::infiniband, 200}).rate, 2 * figures_of({Family::infiniband, 100}).rate);
  EXPECT_LT(figures_of({Family::infiniband, 100}).latency, figures_of({Family::ethernet, 100}).latency);
  EXPECT_GT(figures_of({}).rate, 0);
  EXPECT_NE(text_of({Family::slingshot, 200}).find("Slingshot, 200"), std::string::npos);
}

}  // namespace
}  // namespace tutti::detail
