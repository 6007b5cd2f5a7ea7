// SPDX-License-Identifier: BSD-3-Clause
#include "backends/device_agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "backends/nccl/table.hpp"
#include "backends/nccl/types.hpp"

namespace tutti::detail {
namespace {

/// The first two ranks whose offers have the same key; if there are none, both are the number of offers.
template <typename KeyOf>
std::pair<std::size_t, std::size_t> first_pair(std::span<const DeviceOffer> offers, const KeyOf& key_of) {
  std::map<decltype(key_of(offers[0])), std::size_t> first;
  for (std::size_t r = 0; r < offers.size(); ++r)
    if (const auto [found, is_new] = first.emplace(key_of(offers[r]), r); !is_new) return {found->second, r};
  return {offers.size(), offers.size()};
}

auto device_of(const DeviceOffer& offer) { return std::tuple(offer.node, offer.uuid); }

std::string why_no_nccl(std::span<const DeviceOffer> offers) {
  for (std::size_t r = 0; r < offers.size(); ++r)
    if (offers[r].nccl_version == 0) return fmt::format("rank {}: {}", r, offers[r].why_no_nccl.data());
  for (std::size_t r = 1; r < offers.size(); ++r)
    if (offers[r].nccl_version != offers[0].nccl_version)
      return fmt::format("rank 0 has version {}, rank {} has version {}; install the same version on all ranks",
                         nccl::version_text(offers[0].nccl_version), r, nccl::version_text(offers[r].nccl_version));
  for (std::size_t r = 1; r < offers.size(); ++r)
    if (offers[r].nccl_blocking != offers[0].nccl_blocking)
      return fmt::format("TUTTI_NCCL_BLOCKING differs between ranks 0 and {}; make it equal on all ranks", r);
  for (std::size_t r = 1; r < offers.size(); ++r)
    if (offers[r].nccl_options != offers[0].nccl_options)
      return fmt::format("option nccl of the communicator differs between ranks 0 and {}; make it equal on all ranks",
                         r);
  const auto [a, b] = first_pair(offers, [](const DeviceOffer& o) { return std::tuple(device_of(o), o.host_id); });
  if (b == offers.size()) return {};
  const bool all_allow = std::ranges::all_of(offers, [](const DeviceOffer& o) { return o.several_allowed != 0; });
  if (all_allow && offers[0].nccl_version >= nccl::version_of_several_ranks) return {};
  return fmt::format("ranks {} and {} share a GPU, which version {} does not {}", a, b,
                     nccl::version_text(offers[0].nccl_version),
                     offers[0].nccl_version >= nccl::version_of_several_ranks
                         ? "unless NCCL_MULTI_RANK_GPU_ENABLE=1 is set on all ranks"
                         : "support (2.30.3 does, with NCCL_MULTI_RANK_GPU_ENABLE=1)");
}

}  // namespace

DeviceVerdict judge(std::span<const DeviceOffer> offers) {
  DeviceVerdict verdict;
  for (std::size_t r = 0; r < offers.size(); ++r) {
    if (offers[r].usable == 0) {
      verdict.problem = fmt::format("rank {}: {}", r, offers[r].problem.data());
      return verdict;
    }
    if (offers[r].cuda_aware != offers[0].cuda_aware) {
      verdict.problem = fmt::format("TUTTI_CUDA_AWARE differs between ranks 0 and {}; make it equal on all ranks", r);
      return verdict;
    }
  }
  verdict.kernels = std::ranges::all_of(offers, [](const DeviceOffer& o) { return o.kernels != 0; });
  verdict.registers = std::ranges::all_of(offers, [](const DeviceOffer& o) { return o.nccl_register != 0; });
  verdict.nccl_float8 =
      std::ranges::all_of(offers, [](const DeviceOffer& o) { return o.capability >= nccl::capability_of_float8; });
  verdict.several_ranks = first_pair(offers, device_of).second != offers.size();
  verdict.why_no_nccl = why_no_nccl(offers);
  if (verdict.why_no_nccl.empty()) verdict.nccl_version = offers[0].nccl_version;
  return verdict;
}

}  // namespace tutti::detail
