// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "options.hpp"
#include "run.hpp"
#include "source.hpp"

namespace sgd {

/// All ranks, with sums of one order.
inline tutti::Communicator world() {
  tutti::CommunicatorOptions options;
  options.reproducible = true;
  return tutti::Communicator::duplicate(MPI_COMM_WORLD, options);
}

/// This rank alone: what the others' results are compared with.
inline tutti::Communicator alone() { return tutti::Communicator::duplicate(MPI_COMM_SELF); }

/// Few samples, the last batch short, every loss kept.
inline Options small_run(const std::string& model, const std::string& precision) {
  Options o;
  o.data = "generated";
  o.samples = 1003;
  o.features = 20;
  o.classes = 4;
  o.noise = 0.3;
  o.model = model;
  o.hidden = {32, 16};
  o.precision = precision;
  o.batch_size = 64;
  o.epochs = 20;
  o.max_steps = 200;
  o.learning_rate = 0.05;
  o.momentum = 0.9;
  o.print_freq = 1;
  o.bucket_bytes = 2048;  // several buckets
  o.first_bucket_bytes = 256;
  return o;
}

inline Options with_mode(Options o, const std::string& mode) {
  o.mode = mode.starts_with("hook=") ? "overlap" : mode;
  o.hook = mode.starts_with("hook=") ? mode.substr(5) : "none";
  return o;
}

inline ModeResults train(const tutti::Communicator& comm, const Options& options) {
  const auto source = make_source(options);
  return run_mode(comm, options, *source, [](const std::string&) {});
}

/// The largest relative difference of two loss curves.
inline double difference(const ModeResults& a, const ModeResults& b) {
  const auto& x = a.training.losses;
  const auto& y = b.training.losses;
  EXPECT_EQ(x.size(), y.size());
  double largest = x.size() == y.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    EXPECT_EQ(x[i].step, y[i].step);
    largest = std::max(largest, std::abs(x[i].loss - y[i].loss) / std::abs(y[i].loss));
  }
  return largest;
}

}  // namespace sgd
