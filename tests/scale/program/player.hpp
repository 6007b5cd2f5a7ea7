// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

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

/// Runs a schedule of sums of floats as the library's executor does: the receives of a round first, then its sends.
void play(const schedules::Schedule& schedule, const Buffers& buffers);

}  // namespace tutti::scale
