// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <tutti/error.hpp>

#include "device/runtime.hpp"

namespace tutti::detail {

/// The device half of a communicator, present once the communicator is prepared for device memory. All members except
/// `device`, `stream` and `capture` are equal on all ranks.
struct DeviceSide {
  DeviceSide() = default;
  ~DeviceSide() {
    device::Runtime* runtime = device::runtime();
    if (runtime == nullptr || stream == nullptr) return;
    try {
      const device::Guard guard(device);
      runtime->destroy_stream(stream);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a device that fails has no streams to end
    }
  }
  DeviceSide(const DeviceSide&) = delete;
  DeviceSide& operator=(const DeviceSide&) = delete;

  int device = 0;                         ///< index in this process
  device::StreamHandle stream = nullptr;  ///< the communicator's own stream
  std::uint64_t capture = 0;              ///< the capture that it took part in last; 0: none, or it has ended
  bool kernels = false;                   ///< on all ranks reductions run on the device
  bool cuda_aware = false;                ///< on all ranks the MPI takes device addresses
  bool several_ranks = false;             ///< some device serves several ranks of this communicator
  int nccl_version = 0;                   ///< the lowest of all ranks; 0 if NCCL is not used
  bool nccl_float8 = false;               ///< NCCL reduces float8 on the devices of all ranks
  std::string report{};                   ///< for users: the facilities in use, and the reasons why others are not
};

}  // namespace tutti::detail
