// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::detail::shm {

/// The costs by which the models of the protocols predict. The values were measured with two ranks on neighbouring
/// cores of an Intel Xeon (Sapphire Rapids); a measured table goes before every prediction.
struct Costs {
  double line_seconds = 60e-9;           ///< a cache line that changes hands between two cores
  double next_line_seconds = 60e-9 / 8;  ///< a further line of the same run, which the processor fetches ahead
  double switch_seconds = 1.2e-6;        ///< a turn of processes that share a core
  double write_rate = 9e9;               ///< into a slot, bytes/s
  double read_rate = 14e9;               ///< out of a slot, bytes/s
  double describe_seconds = 0.2e-6;      ///< publishing where a buffer is, and reading that of a peer
  double lone_call_seconds = 0.63e-6;    ///< a copying system call while the peer makes none
  double call_seconds = 1.1e-6;          ///< the same while the peer makes one too
  double copy_rate = 16e9;               ///< of copying system calls, bytes/s
};

inline constexpr Costs costs{};

}  // namespace tutti::detail::shm
