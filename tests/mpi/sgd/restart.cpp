// SPDX-License-Identifier: BSD-3-Clause
// A run that is stopped and goes on ends with the bits of the uninterrupted one.
#include <tutti/checkpoint.hpp>
#include <tutti/collectives/barrier.hpp>

#include "common/agree.hpp"
#include "shared_folder.hpp"
#include "training_runs.hpp"

namespace sgd {
namespace {

void expect_same_state(const std::string& a, const std::string& b) {
  const tutti::CheckpointReader x(a);
  const tutti::CheckpointReader y(b);
  ASSERT_EQ(x.names(), y.names());
  for (const auto& name : x.names()) {
    EXPECT_EQ(x.text(name), y.text(name)) << "section " << name << " differs";
  }
}

/// 61 steps at once, and 37 and 24 of them, which is in the middle of an epoch.
void interrupt(const tutti::Communicator& comm, Options options, const std::string& what) {
  const SharedFolder folder(comm);
  options.max_steps = 61;
  options.checkpoint_dir = folder / "whole";
  const auto whole = train(comm, options);
  options.max_steps = 37;
  options.checkpoint_dir = folder / "first";
  train(comm, options);
  options.load = options.checkpoint_dir;
  options.max_steps = 61;
  options.checkpoint_dir = folder / "rest";
  const auto rest = train(comm, options);
  ASSERT_EQ(rest.training.losses.size(), 24U) << what;
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(rest.training.losses[i].loss, whole.training.losses[37 + i].loss) << what << ", step " << 38 + i;
  }
  if (comm.rank() == 0) {
    SCOPED_TRACE(what);
    expect_same_state(folder / "whole", folder / "rest");
  }
}

TEST(Restart, PowerSgdGoesOnBitForBit) {
  const auto comm = world();
  auto options = with_mode(small_run("mlp", "fp32"), "hook=powersgd");
  options.hidden = {64, 64};
  interrupt(comm, options, "powersgd");
  options.power_sgd_start = 45;  // after the interruption
  interrupt(comm, options, "powersgd that starts later");
}

TEST(Restart, EveryModeGoesOnBitForBit) {
  const auto comm = world();
  for (const char* mode : {"naive", "flat", "bucketed", "overlap", "join", "sharded", "local", "hook=bf16"}) {
    auto options = with_mode(small_run("mlp", "fp32"), mode);
    options.local_steps = 5;
    interrupt(comm, options, mode);
  }
  auto adam = with_mode(small_run("mlp", "fp64"), "sharded");
  adam.optimizer = "adam";
  adam.momentum = 0;
  adam.learning_rate = 1e-3;
  interrupt(comm, adam, "sharded adam");
}

// Pushes of several ranks are added in the order they come, so only one rank's bits are certain.
TEST(Restart, ServerGoesOn) {
  const auto self = alone();
  auto options = with_mode(small_run("mlp", "fp32"), "parameter-server");
  options.momentum = 0;
  interrupt(self, options, "parameter-server");
}

TEST(Restart, OnAnotherNumberOfRanks) {
  const auto comm = world();
  const SharedFolder folder(comm);
  for (const char* mode : {"overlap", "sharded"}) {
    auto options = with_mode(small_run("mlp", "fp64"), mode);
    options.max_steps = 60;
    const auto whole = train(comm, options);
    options.max_steps = 37;
    options.checkpoint_dir = folder / mode;
    train(comm, options);
    options.load = options.checkpoint_dir;
    options.checkpoint_dir.clear();
    options.max_steps = 60;
    const auto self = alone();
    const auto rest = train(self, options);
    for (std::size_t i = 0; i < rest.training.losses.size(); ++i) {
      EXPECT_NEAR(rest.training.losses[i].loss, whole.training.losses[37 + i].loss, 1e-10) << mode;
    }
  }
}

TEST(Restart, AStateThatIsNotANumberIsNeverSaved) {
  const auto comm = world();
  const SharedFolder folder(comm);
  auto options = with_mode(small_run("mlp", "fp32"), "overlap");
  options.max_steps = 5;
  options.checkpoint_dir = folder / "checkpoint";
  train(comm, options);
  const auto step_of = [&] {
    const tutti::CheckpointReader reader(folder / "checkpoint");
    const std::string run = reader.text("run");
    return run.substr(run.find("\"step\":"), 9);
  };
  EXPECT_EQ(step_of(), "\"step\":5}");
  options.load = options.checkpoint_dir;
  options.learning_rate = 1e39;  // infinite as a float
  options.save_freq = 1;
  options.max_steps = 12;
  try {
    train(comm, options);
    FAIL() << "a diverged run ends well";
  } catch (const tutti::miniapps::AgreedError& error) {
    EXPECT_NE(std::string(error.what()).find("is not a number after step"), std::string::npos) << error.what();
  }
  EXPECT_EQ(step_of(), "\"step\":5}");
  options.stop_on_nan = false;
  train(comm, options);
  EXPECT_EQ(step_of(), "\"step\":5}");
}

TEST(Restart, KeepsTheLastFewCheckpoints) {
  const auto comm = world();
  const SharedFolder folder(comm);
  auto options = with_mode(small_run("mlp", "fp32"), "overlap");
  options.max_steps = 11;
  options.checkpoint_dir = folder / "checkpoints";
  options.save_freq = 3;
  options.keep_checkpoints = 2;
  const auto whole = train(comm, options);
  tutti::barrier(comm);
  std::size_t kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "checkpoints")) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name == "step-0000000009" || name == "step-0000000011") << name;
    ++kept;
  }
  EXPECT_EQ(kept, 2U);
  options.load = std::filesystem::path(options.checkpoint_dir) / "step-0000000009";
  options.checkpoint_dir.clear();
  options.save_freq = 0;
  const auto rest = train(comm, options);
  ASSERT_EQ(rest.training.losses.size(), 2U);
  EXPECT_EQ(rest.training.losses[1].loss, whole.training.losses[10].loss);
}

TEST(Restart, OtherRunsAndDamageAreNamed) {
  const auto comm = world();
  const SharedFolder folder(comm);
  auto options = with_mode(small_run("mlp", "fp32"), "overlap");
  options.max_steps = 3;
  options.checkpoint_dir = folder / "checkpoint";
  train(comm, options);
  options.load = options.checkpoint_dir;
  options.checkpoint_dir.clear();
  options.hidden = {31};
  try {
    train(comm, options);
    FAIL() << "another model was loaded";
  } catch (const tutti::miniapps::AgreedError& error) {
    EXPECT_NE(std::string(error.what()).find("widths"), std::string::npos) << error.what();
  }
  options.load = folder / "nothing";
  EXPECT_THROW(train(comm, options), tutti::miniapps::AgreedError);
}

}  // namespace
}  // namespace sgd
