// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "device_timer.hpp"
#include "experiment.hpp"

namespace tutti::commbench {

bool Experiment::is_queued() const {
  return stream_ && point_.mode == Mode::blocking && point_.operation != Operation::barrier;
}

void Experiment::measure_queued(double budget, Measurement& result) {
  const auto calls = static_cast<int>(std::clamp(std::ceil(budget / std::max(estimate_, 1e-8)), 5.0, 200.0));
  if (settings_.check != Check::off) buffers_.fill(0, ++iteration_);
  DeviceTimer timer;
  MeasuredCall& call = *calls_.front();
  team_.meet();
  const double begin = now();
  timer.begin(*stream_);
  for (int i = 0; i < calls; ++i) call.run();
  timer.end(*stream_);
  const double launched = now();
  stream_->wait();
  const double done = now();
  std::vector<double> seconds{launched - begin, timer.seconds(), done - begin};
  team_.take_largest(seconds);
  result.queued.push_back({seconds[0] / calls, seconds[1] / calls, seconds[2] / calls});
  verify(0, iteration_);
  add_checks(result);
}

}  // namespace tutti::commbench
