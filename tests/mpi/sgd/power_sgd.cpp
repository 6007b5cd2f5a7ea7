// SPDX-License-Identifier: BSD-3-Clause
// PowerSGD of rank 2 reaches the loss of uncompressed gradients with a twentieth of the bytes.
#include <cstdio>

#include "training_runs.hpp"

namespace sgd {
namespace {

TEST(PowerSgd, ReachesTheLossWithAFewBytes) {
  const auto comm = world();
  Options options;
  options.train_file = TUTTI_SOURCE_DIR "/miniapps/common/data/adult";
  options.model = "mlp";
  options.hidden = {256, 256};
  options.epochs = 2;
  options.print_freq = 128;  // the batches of an epoch
  options.momentum = 0.9;
  options.schedule = "cosine";
  options.decay_factor = 0;
  const auto whole = train(comm, with_mode(options, "overlap"));
  const auto compressed = train(comm, with_mode(options, "hook=powersgd"));
  const double ratio = whole.training.bytes_per_step / compressed.training.bytes_per_step;
  const double trained = compressed.training.losses.back().loss / whole.training.losses.back().loss - 1;
  const double tested = compressed.test->loss / whole.test->loss - 1;
  if (comm.rank() == 0) {
    std::printf("%d ranks, %d steps: loss of the last epoch %.5f uncompressed, %.5f by PowerSGD of rank 2 (%+.2f %%)\n",
                comm.size(), static_cast<int>(whole.training.steps), whole.training.losses.back().loss,
                compressed.training.losses.back().loss, 100 * trained);
    std::printf("test loss %.5f and %.5f (%+.2f %%)\n", whole.test->loss, compressed.test->loss, 100 * tested);
    std::printf("bytes a step: %.0f uncompressed, %.0f by PowerSGD: %.1f times fewer\n", whole.training.bytes_per_step,
                compressed.training.bytes_per_step, ratio);
  }
  EXPECT_LT(whole.test->loss, 0.31) << "it does not learn";
  EXPECT_LE(trained, 0.01);
  EXPECT_LE(tested, 0.01);
  EXPECT_GE(ratio, 20);
}

}  // namespace
}  // namespace sgd
