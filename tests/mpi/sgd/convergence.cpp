// SPDX-License-Identifier: BSD-3-Clause
// The loss curve of 200 steps is the same on any number of ranks, by every mode that is to give it.
#include <cstdio>

#include "training_runs.hpp"

namespace sgd {
namespace {

void compare_with_one_rank(Options options, const std::vector<std::string>& modes, double tolerance) {
  const auto comm = world();
  const auto self = alone();
  const auto want = train(self, with_mode(options, "naive"));
  ASSERT_EQ(want.training.losses.size(), 200U);
  EXPECT_LT(want.training.losses.back().loss, 0.9 * want.training.losses.front().loss) << "it does not learn";
  for (const auto& mode : modes) {
    const double off = difference(train(comm, with_mode(options, mode)), want);
    EXPECT_LE(off, tolerance) << options.model << " " << options.precision << " by " << mode;
    if (comm.rank() == 0) {
      std::printf("%s %s by %s on %d ranks: within %.2e of one rank\n", options.model.c_str(),
                  options.precision.c_str(), mode.c_str(), comm.size(), off);
    }
  }
}

const std::vector<std::string> equal_modes{"naive", "flat", "bucketed", "overlap", "join", "sharded"};

TEST(Convergence, MlpInFp64ByEveryMode) { compare_with_one_rank(small_run("mlp", "fp64"), equal_modes, 1e-10); }

TEST(Convergence, MlpInFp32ByEveryMode) { compare_with_one_rank(small_run("mlp", "fp32"), equal_modes, 1e-5); }

TEST(Convergence, LinearLogisticSoftmax) {
  for (const char* model : {"linear", "logistic", "softmax"}) {
    compare_with_one_rank(small_run(model, "fp64"), {"overlap"}, 1e-10);
    compare_with_one_rank(small_run(model, "fp32"), {"overlap"}, 1e-5);
  }
}

TEST(Convergence, NesterovWeightDecayClipAndSchedule) {
  auto options = small_run("mlp", "fp64");
  options.nesterov = true;
  options.weight_decay = 1e-3;
  options.clip = 0.5;
  options.schedule = "cosine";
  options.warmup_steps = 20;
  compare_with_one_rank(options, {"overlap", "sharded"}, 1e-10);
}

TEST(Convergence, Adam) {
  auto options = small_run("mlp", "fp64");
  options.optimizer = "adam";
  options.momentum = 0;
  options.learning_rate = 1e-3;
  compare_with_one_rank(options, {"overlap", "sharded"}, 1e-10);
}

TEST(Convergence, AdultIsSparse) {
  auto options = small_run("logistic", "fp64");
  options.data = "adult";
  options.train_file = TUTTI_SOURCE_DIR "/miniapps/common/data/adult";
  options.batch_size = 256;
  options.bucket_bytes = std::size_t{25} << 20U;
  options.test_at_end = false;
  compare_with_one_rank(options, {"overlap"}, 1e-10);
}

}  // namespace
}  // namespace sgd
