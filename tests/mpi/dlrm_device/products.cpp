// SPDX-License-Identifier: BSD-3-Clause
// Types of products, tests of the model and measurements of steps.
#include "support.hpp"

namespace tutti::test {
namespace {

using ProductsOfDlrm = DlrmDevice;

TEST_F(ProductsOfDlrm, Bfloat16TrainsAsFloat32ToWithinItsRounding) {
  const auto exact = train(comm(), small_model + std::string(" --device"));
  const auto rounded = train(comm(), small_model + std::string(" --device --compute-type=bf16"));
  if (comm().rank() != 0) return;
  EXPECT_NE(exact, rounded);
  expect_close(rounded, exact, 0.01, "bf16");
}

TEST_F(ProductsOfDlrm, Tf32IsAskedForOnlyByItsFlag) {
  train(comm(), small_model + std::string(" --device"));
  EXPECT_EQ(standin::Cublas::last_compute(), miniapps::device::cublas_compute_32f);
  train(comm(), small_model + std::string(" --device --tf32"));
  EXPECT_EQ(standin::Cublas::last_compute(), miniapps::device::cublas_compute_32f_fast_tf32);
}

TEST_F(ProductsOfDlrm, TestsOfTheModelAreThoseOfTheHost) {
  const std::string flags =
      "--preset=adult --nepochs=1 --num-batches=6 --print-freq=2 --test-freq=3 --test-mini-batch-size=8192 "
      "--arch-mlp-bot=7-16-16 --arch-mlp-top=16-1";
  const auto host = results_of(comm(), flags);
  const auto device = results_of(comm(), flags + " --device --graph");
  if (comm().rank() != 0) return;
  expect_close(losses_of(device), losses_of(host), 1e-5, flags);
  EXPECT_NEAR(device["test"]["auc"].get<double>(), host["test"]["auc"].get<double>(), 1e-5);
}

TEST_F(ProductsOfDlrm, StepsAreMeasuredForEachBatch) {
  const auto results = results_of(comm(),
                                  "--data-generation=bench --arch-embedding-size=50-60 --arch-sparse-feature-size=4 "
                                  "--arch-mlp-bot=3-4 --arch-mlp-top=4-1 --num-indices-per-lookup=1 --num-batches=8 "
                                  "--num-indices-per-lookup-fixed --init=fast --bench-batches=8-16 --device --graph");
  if (comm().rank() != 0) return;
  EXPECT_GT(results["phases"]["batch 8"].get<double>(), 0);
  EXPECT_GT(results["phases"]["batch 16"].get<double>(), 0);
}

}  // namespace
}  // namespace tutti::test
