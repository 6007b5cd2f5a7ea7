// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::detail {

/// The costs of a device that the models of calls on device memory add to those of messages. The values are typical of
/// a server GPU of 2024 on PCIe 4 with NVLink; a measured table does not cover device memory yet.
struct DeviceCosts {
  double launch_seconds = 8e-6;   ///< a kernel's launch and a poll of its event
  double copy_seconds = 10e-6;    ///< the start of a copy between host and device
  double copy_rate = 25e9;        ///< between host and device, bytes/s
  double fabric_rate = 200e9;     ///< between devices of a node, bytes/s
  double network_rate = 40e9;     ///< between devices of several nodes, bytes/s
  double message_seconds = 1e-6;  ///< of each message of a group beyond the first
  double hop_seconds = 4e-6;      ///< between nodes, of each step of NCCL's trees
};

inline constexpr DeviceCosts device_costs{};

}  // namespace tutti::detail
