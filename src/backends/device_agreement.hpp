// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "device/runtime.hpp"

namespace tutti::detail {

/// What one rank brings to the agreement on device memory, as plain bytes.
struct DeviceOffer {
  std::int32_t usable = 0;  ///< it has a device
  std::int32_t kernels = 0;
  std::int32_t nccl_version = 0;     ///< 0: `why_no_nccl` says why
  std::int32_t several_allowed = 0;  ///< NCCL_MULTI_RANK_GPU_ENABLE=1
  std::int32_t nccl_blocking = 0;    ///< TUTTI_NCCL_BLOCKING=1
  std::int32_t nccl_register = 0;    ///< TUTTI_NCCL_REGISTER=1
  std::int32_t cuda_aware = -1;      ///< TUTTI_CUDA_AWARE: -1 not set
  std::int32_t node = 0;
  std::uint64_t host_id = 0;  ///< of NCCL_HOSTID; 0: not set
  device::Uuid uuid{};
  std::array<char, 160> problem{};  ///< why it is not usable
  std::array<char, 160> why_no_nccl{};
};

/// What follows from all offers, alike on all ranks.
struct DeviceVerdict {
  std::string problem{};  ///< why the communicator cannot use devices; empty where it can
  bool kernels = false;
  bool several_ranks = false;
  bool registers = false;
  int nccl_version = 0;  ///< 0: NCCL is not tried
  std::string why_no_nccl{};
};

/// A pure function. NCCL needs one version everywhere and, before 2.30.3 and without NCCL_MULTI_RANK_GPU_ENABLE=1, a
/// device of its own for each rank; ranks whose NCCL_HOSTID differs count as on different hosts there.
[[nodiscard]] DeviceVerdict judge(std::span<const DeviceOffer> offers);

}  // namespace tutti::detail
