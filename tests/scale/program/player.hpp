// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "calls.hpp"
#include "machine.hpp"
#include "schedules/schedule.hpp"

namespace tutti::scale {

/// The buffers of a rank. Without data their memory is never touched, and local work is left out.
struct Buffers {
  const float* input = nullptr;
  float* output = nullptr;
  float* scratch = nullptr;
  bool has_data = false;
};

/// The schedule of a rank by the algorithm that the call names. Throws std::runtime_error where there is none.
[[nodiscard]] schedules::Schedule schedule_of(const Call& call, const Machine& machine, int rank);

/// A schedule of sums of floats among the ranks first, first + stride, ...
struct Part {
  schedules::Schedule schedule{};
  Buffers buffers{};
  int tag = 1;
  int first = 0;
  int stride = 1;
};

/// Runs a schedule as the library's executor does: the receives of a round first, then its sends.
void play(const Part& part);

/// Runs several schedules, each as soon as its messages let it go on.
void play_together(const std::vector<Part>& parts);

}  // namespace tutti::scale
