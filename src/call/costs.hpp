// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tutti::detail {

/// The costs by which the models of host memory and of messages on a node predict, in seconds, in seconds per byte, and
/// in one case per byte, so that the greater of two is always the worse. The values here are the prior, of no machine
/// in particular: the first communicator of a machine measures its own (planner/calibration.hpp).
struct Costs {
  // Loads and stores
  double line = 0.1e-6;            ///< until a core sees a line that another has written
  double slot_write = 0.1e-9;      ///< into memory that another core has read, a byte
  double slot_read = 0.1e-9;       ///< out of memory that another core has written, a byte
  double stream_write = 0.09e-9;   ///< as slot_write, of long pieces, through buffers that stay in the caches, a byte
  double stream_read = 0.09e-9;    ///< as slot_read, of the same
  double wide_write = 0.09e-9;     ///< as stream_write, through so much memory that no core's own caches hold it
  double wide_read = 0.09e-9;      ///< as slot_read, of the same
  double uncached_start = 0.3e-6;  ///< until a first line that was written past the caches is there
  double uncached_write = 0.1e-9;  ///< past the caches, a byte
  double uncached_read = 0.12e-9;  ///< out of memory that was written so, a byte
  double copy = 0.04e-9;           ///< within this core's caches, a byte
  double far_copy = 0.15e-9;       ///< through memory, with all ranks copying, a byte
  double combine = 0.05e-9;        ///< a byte of operands, of types that need no conversion
  double combine_narrow = 0.1e-9;  ///< the same for floats of 8 and 16 bits
  double turn = 1.5e-6;            ///< of processes that share a core; not measured
  // Copies between processes by the kernel
  double kernel_call = 0.7e-6;            ///< one call, while no other rank makes any
  double kernel_byte = 0.06e-9;           ///< a byte of it, within the caches
  double kernel_far_byte = 0.12e-9;       ///< a byte of it, through memory
  double kernel_busy_call = 1.2e-6;       ///< one call, while its peer calls too
  double kernel_busy_byte = 0.07e-9;      ///< as kernel_byte
  double kernel_busy_far_byte = 0.15e-9;  ///< as kernel_far_byte
  double kernel_cold_byte = 0.2e-9;       ///< a byte of what the reader's caches have not held, with all ranks copying
  double cache_part = 0.1e-6;             ///< the part of a rank's share of the last-level caches that a byte fills
  // Messages of the host MPI on a node
  double message = 0.5e-6;             ///< until a short message has arrived
  double message_gap = 0.2e-6;         ///< that a message keeps its sender busy
  double message_short_byte = 0.4e-9;  ///< a byte of messages of message_lengths[0] that go both ways at the same time
  double message_byte = 0.4e-9;        ///< of message_lengths[1]
};

/// The lengths of the messages that are measured, in bytes.
inline constexpr std::array<int, 2> message_lengths{4096, 1 << 20};

inline constexpr Costs typical_costs{};

/// The two efforts at a calibration: to measure all costs, or to find out whether those of earlier still hold.
enum class Calibration : std::uint8_t { full, check };

/// One of the costs, for files, messages and reports.
struct NamedCost {
  std::string_view name;
  std::string_view unit;
  double Costs::*value;
};
inline constexpr std::array<NamedCost, 27> named_costs{{
    {"line", "s", &Costs::line},
    {"slot_write", "s/B", &Costs::slot_write},
    {"slot_read", "s/B", &Costs::slot_read},
    {"stream_write", "s/B", &Costs::stream_write},
    {"stream_read", "s/B", &Costs::stream_read},
    {"wide_write", "s/B", &Costs::wide_write},
    {"wide_read", "s/B", &Costs::wide_read},
    {"uncached_start", "s", &Costs::uncached_start},
    {"uncached_write", "s/B", &Costs::uncached_write},
    {"uncached_read", "s/B", &Costs::uncached_read},
    {"copy", "s/B", &Costs::copy},
    {"far_copy", "s/B", &Costs::far_copy},
    {"combine", "s/B", &Costs::combine},
    {"combine_narrow", "s/B", &Costs::combine_narrow},
    {"turn", "s", &Costs::turn},
    {"kernel_call", "s", &Costs::kernel_call},
    {"kernel_byte", "s/B", &Costs::kernel_byte},
    {"kernel_far_byte", "s/B", &Costs::kernel_far_byte},
    {"kernel_busy_call", "s", &Costs::kernel_busy_call},
    {"kernel_busy_byte", "s/B", &Costs::kernel_busy_byte},
    {"kernel_busy_far_byte", "s/B", &Costs::kernel_busy_far_byte},
    {"kernel_cold_byte", "s/B", &Costs::kernel_cold_byte},
    {"cache_part", "1/B", &Costs::cache_part},
    {"message", "s", &Costs::message},
    {"message_gap", "s", &Costs::message_gap},
    {"message_short_byte", "s/B", &Costs::message_short_byte},
    {"message_byte", "s/B", &Costs::message_byte},
}};
static_assert(sizeof(Costs) == named_costs.size() * sizeof(double), "every cost has a name");

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
