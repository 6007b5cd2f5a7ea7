// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/operation.hpp>
#include <vector>

namespace tutti::commbench {

struct Statistics {
  double min = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double max = 0;
};

/// Percentile p of n values: the smallest value that at least p percent of them do not exceed. All 0 without values.
[[nodiscard]] Statistics statistics_of(std::vector<double> values);

/// The share of communication that computation hides, in percent, as OSU's micro-benchmarks define it:
/// 100 (1 - (total - compute) / pure), from 0 to 100.
[[nodiscard]] double overlap_percent(double pure, double compute, double total);

/// What algorithm bandwidth is multiplied by to give bus bandwidth, the rate that a link must have for that time
/// whatever the number of ranks: as in nccl-tests (doc/PERFORMANCE.md and, for alltoall, gather and scatter, its
/// sources). The v-forms as those without v; scan and exscan, which NCCL has not, as reduce; 0 for barrier.
[[nodiscard]] double bus_factor(Operation operation, int ranks);

/// GB/s (10^9): bytes over seconds, where bytes is the size as nccl-tests defines it: of the vector for bcast, reduce,
/// allreduce and scans, of all blocks together for the others.
[[nodiscard]] double algorithm_bandwidth(std::size_t bytes, double seconds);

}  // namespace tutti::commbench
