// SPDX-License-Identifier: BSD-3-Clause
// What modes have beside the common loss curve.
#include <cstdio>
#include <tutti/gradient_reducer.hpp>

#include "training_runs.hpp"

namespace sgd {
namespace {

TEST(Modes, AccumulationGivesTheSameLosses) {
  const auto comm = world();
  for (const char* mode : {"naive", "overlap", "sharded"}) {
    auto options = with_mode(small_run("mlp", "fp64"), mode);
    options.max_steps = 20;
    const auto want = train(comm, options);
    options.gradient_accumulation = 3;
    EXPECT_LE(difference(train(comm, options), want), 1e-10) << mode;
  }
}

// Averages after each step of plain SGD are the step by the mean gradient, where shares are equal.
TEST(Modes, LocalWithOneStepIsSgd) {
  const auto comm = world();
  auto options = small_run("mlp", "fp64");
  options.samples = 960;
  options.batch_size = 60;
  options.momentum = 0;
  options.max_steps = 60;
  const auto want = train(comm, with_mode(options, "naive"));
  options = with_mode(options, "local");
  options.local_steps = 1;
  EXPECT_LE(difference(train(comm, options), want), 1e-10);
  options.local_steps = 8;
  const auto local = train(comm, options);
  EXPECT_NEAR(local.test->loss, want.test->loss, 0.1 * want.test->loss);
  EXPECT_NEAR(local.training.bytes_per_step, want.training.bytes_per_step / 8, 1);
}

TEST(Modes, ServerWithAFenceAStepIsSgd) {
  const auto comm = world();
  auto options = small_run("mlp", "fp32");
  options.momentum = 0;
  options.max_steps = 60;
  const auto want = train(comm, with_mode(options, "naive"));
  options = with_mode(options, "parameter-server");
  EXPECT_LE(difference(train(comm, options), want), 1e-5);
  options.server_fence = 0;
  const auto free = train(comm, options);
  EXPECT_NEAR(free.test->loss, want.test->loss, 0.25 * want.test->loss);
}

TEST(Modes, SixteenBitsHalveTheBytes) {
  const auto comm = world();
  auto options = small_run("mlp", "fp32");
  options.max_steps = 60;
  const auto want = train(comm, with_mode(options, "overlap"));
  for (const char* mode : {"hook=bf16", "hook=fp16"}) {
    const auto got = train(comm, with_mode(options, mode));
    EXPECT_NEAR(got.training.bytes_per_step, want.training.bytes_per_step / 2, 64) << mode;
    EXPECT_NEAR(got.test->loss, want.test->loss, 0.02 * want.test->loss) << mode;
  }
}

TEST(Modes, CheckAndAutomaticBuckets) {
  const auto comm = world();
  auto options = with_mode(small_run("mlp", "fp64"), "overlap");
  const auto want = train(comm, options);
  options.check = true;
  options.communicators = 2;
  options.bucket_bytes = tutti::ReducerOptions::automatic;
  const auto got = train(comm, options);
  EXPECT_LE(difference(got, want), 1e-10);
  options.print_map = true;
  options.max_steps = 2;
  EXPECT_NE(train(comm, options).training.details.find("layer 0 weight"), std::string::npos);
}

TEST(Modes, PhasesAddUp) {
  const auto comm = world();
  const auto results = train(comm, with_mode(small_run("mlp", "fp32"), "overlap"));
  double sum = 0;
  for (const auto& phase : results.training.phases) {
    EXPECT_GE(phase.mean, 0);
    EXPECT_LE(phase.mean, phase.largest + 1e-9);
    sum += phase.mean;
  }
  EXPECT_GT(results.training.exposed_ms, 0);
  EXPECT_LE(results.training.exposed_ms, sum);
  EXPECT_GT(results.training.ms_per_step, 0);
}

}  // namespace
}  // namespace sgd
