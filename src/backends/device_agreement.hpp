// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "device/runtime.hpp"

namespace tutti::detail {

/// One rank's offer in the agreement on device memory, as plain bytes.
struct DeviceOffer {
  std::int32_t usable = 0;  ///< it has a device
  std::int32_t kernels = 0;
  std::int32_t capability = 0;       ///< compute capability of the device, 90 for 9.0; 0: unknown
  std::int32_t nccl_version = 0;     ///< 0: `why_no_nccl` has the reason
  std::int32_t several_allowed = 0;  ///< NCCL_MULTI_RANK_GPU_ENABLE=1
  std::int32_t nccl_blocking = 0;    ///< TUTTI_NCCL_BLOCKING=1
  std::int32_t nccl_register = 0;    ///< TUTTI_NCCL_REGISTER=1
  std::int32_t cuda_aware = -1;      ///< TUTTI_CUDA_AWARE: -1 not set
  std::int32_t node = 0;
  std::uint64_t host_id = 0;       ///< hash of NCCL_HOSTID; 0: not set
  std::uint64_t nccl_options = 0;  ///< hash of CommunicatorOptions::nccl
  device::Uuid uuid{};
  std::array<char, 160> problem{};  ///< the reason why it is not usable
  std::array<char, 160> why_no_nccl{};
};

/// The result of all offers, the same on all ranks.
struct DeviceVerdict {
  std::string problem{};  ///< the reason why the communicator cannot use devices; empty if it can
  bool kernels = false;
  bool several_ranks = false;
  bool registers = false;
  bool nccl_float8 = false;  ///< NCCL reduces float8 on the devices of all ranks
  int nccl_version = 0;      ///< 0: NCCL is not tried
  std::string why_no_nccl{};
};

/// Combines the offers; a pure function. NCCL needs the same version on all ranks and, before 2.30.3 or without
/// NCCL_MULTI_RANK_GPU_ENABLE=1, a separate device for each rank; ranks with different NCCL_HOSTID count as on
/// different hosts.
[[nodiscard]] DeviceVerdict judge(std::span<const DeviceOffer> offers);

}  // namespace tutti::detail
