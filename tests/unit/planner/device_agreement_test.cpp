// SPDX-License-Identifier: BSD-3-Clause
// What ranks conclude from what each of them has for device memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "backends/device_agreement.hpp"

namespace tutti::detail {
namespace {

using testing::HasSubstr;

constexpr int nccl_2_28 = 22809;
constexpr int nccl_2_30 = 23007;

/// One GPU a rank, all on one node.
std::vector<DeviceOffer> offers(int ranks, int version = nccl_2_28) {
  std::vector<DeviceOffer> all(static_cast<std::size_t>(ranks));
  for (std::size_t r = 0; r < all.size(); ++r) {
    all[r].usable = 1;
    all[r].kernels = 1;
    all[r].nccl_version = version;
    all[r].uuid[0] = static_cast<unsigned char>(r + 1);
  }
  return all;
}

template <std::size_t N>
void set_text(std::array<char, N>& to, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), N - 1), to.begin());
}

TEST(DeviceAgreement, OneGpuARankHasAll) {
  const DeviceVerdict verdict = judge(offers(4));
  EXPECT_EQ(verdict.problem, "");
  EXPECT_EQ(verdict.nccl_version, nccl_2_28);
  EXPECT_TRUE(verdict.kernels);
  EXPECT_FALSE(verdict.several_ranks);
}

TEST(DeviceAgreement, NamesTheFirstRankWithoutADevice) {
  auto all = offers(3);
  all[1].usable = 0;
  set_text(all[1].problem, "no GPU was found");
  all[2].usable = 0;
  EXPECT_EQ(judge(all).problem, "rank 1: no GPU was found");
}

TEST(DeviceAgreement, NcclIsUsedByAllOrNone) {
  auto all = offers(3);
  all[2].nccl_version = 0;
  set_text(all[2].why_no_nccl, "libnccl.so.2 cannot be opened");
  const DeviceVerdict verdict = judge(all);
  EXPECT_EQ(verdict.problem, "") << "device memory works without NCCL";
  EXPECT_EQ(verdict.nccl_version, 0);
  EXPECT_EQ(verdict.why_no_nccl, "rank 2: libnccl.so.2 cannot be opened");
}

TEST(DeviceAgreement, NcclNeedsOneVersion) {
  auto all = offers(2);
  all[1].nccl_version = nccl_2_30;
  EXPECT_EQ(judge(all).nccl_version, 0);
  EXPECT_THAT(judge(all).why_no_nccl, HasSubstr("rank 0 has version 2.28.9, rank 1 has version 2.30.7"));
}

TEST(DeviceAgreement, NcclIsMadeInOneWay) {
  auto all = offers(2);
  all[1].nccl_blocking = 1;
  EXPECT_THAT(judge(all).why_no_nccl, HasSubstr("TUTTI_NCCL_BLOCKING differs between ranks 0 and 1"));
}

TEST(DeviceAgreement, SeveralRanksOnAGpu) {
  auto all = offers(3);
  all[2].uuid = all[0].uuid;
  EXPECT_TRUE(judge(all).several_ranks);
  EXPECT_EQ(judge(all).nccl_version, 0);
  EXPECT_THAT(judge(all).why_no_nccl, HasSubstr("ranks 0 and 2 share a GPU"));
  all[2].node = 1;
  EXPECT_FALSE(judge(all).several_ranks) << "equal names of devices of different nodes";
  EXPECT_EQ(judge(all).nccl_version, nccl_2_28);
}

TEST(DeviceAgreement, SeveralRanksOnAGpuFrom2303) {
  auto all = offers(2, nccl_2_30);
  all[1].uuid = all[0].uuid;
  EXPECT_THAT(judge(all).why_no_nccl, HasSubstr("NCCL_MULTI_RANK_GPU_ENABLE=1 is set on all ranks"));
  all[0].several_allowed = 1;
  EXPECT_EQ(judge(all).nccl_version, 0) << "one rank does not allow it";
  all[1].several_allowed = 1;
  EXPECT_EQ(judge(all).nccl_version, nccl_2_30);
  EXPECT_TRUE(judge(all).several_ranks);
}

TEST(DeviceAgreement, DifferingHostIdsAreDifferentHostsForNccl) {
  auto all = offers(2);
  all[1].uuid = all[0].uuid;
  all[0].host_id = 1;
  all[1].host_id = 3;
  EXPECT_EQ(judge(all).nccl_version, nccl_2_28);
  EXPECT_TRUE(judge(all).several_ranks);
}

TEST(DeviceAgreement, NcclIsConfiguredInOneWay) {
  auto all = offers(3);
  all[1].nccl_options = 7;
  EXPECT_EQ(judge(all).nccl_version, 0);
  EXPECT_THAT(judge(all).why_no_nccl, HasSubstr("option nccl of the communicator differs between ranks 0 and 1"));
}

/// Each offer is looked at once: pairs of 40,000 offers would take minutes.
TEST(DeviceAgreement, ManyRanksAreJudgedQuickly) {
  auto all = offers(40'000);
  for (std::size_t r = 0; r < all.size(); ++r) {
    all[r].node = static_cast<std::int32_t>(r / 8);
    all[r].uuid = {static_cast<unsigned char>(r % 8 + 1)};
  }
  EXPECT_EQ(judge(all).nccl_version, nccl_2_28);
  EXPECT_FALSE(judge(all).several_ranks);
  all[39'999].uuid = all[39'992].uuid;
  EXPECT_THAT(judge(all).why_no_nccl, HasSubstr("ranks 39992 and 39999 share a GPU"));
}

TEST(DeviceAgreement, KernelsNeedAllRanks) {
  auto all = offers(2);
  all[1].kernels = 0;
  EXPECT_FALSE(judge(all).kernels);
}

TEST(DeviceAgreement, TheLeastCapabilityDecidesOnFloat8) {
  auto all = offers(3);
  for (auto& offer : all) offer.capability = 90;
  EXPECT_TRUE(judge(all).nccl_float8);
  all[1].capability = 80;
  EXPECT_FALSE(judge(all).nccl_float8);
}

TEST(DeviceAgreement, TheVariableMustBeEqual) {
  auto all = offers(2);
  all[1].cuda_aware = 1;
  EXPECT_THAT(judge(all).problem, HasSubstr("TUTTI_CUDA_AWARE"));
}

}  // namespace
}  // namespace tutti::detail
