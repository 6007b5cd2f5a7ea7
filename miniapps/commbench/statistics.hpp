// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

}  // namespace tutti::commbench
