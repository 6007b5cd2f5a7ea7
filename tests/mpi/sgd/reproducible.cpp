// SPDX-License-Identifier: BSD-3-Clause
// --reproducible: the same bits on any number of ranks, for any size of buckets, and where a run goes on on others.
#include <tutti/checkpoint.hpp>

#include "common/agree.hpp"
#include "shared_folder.hpp"
#include "training_runs.hpp"

namespace sgd {
namespace {

constexpr std::uint64_t steps = 20;

Options reproducible(const std::string& model, const std::string& precision) {
  Options o = small_run(model, precision);
  o.reproducible = true;
  o.batch_size = 70;  // blocks of unlike sizes, and a last batch with fewer samples than blocks
  o.samples = 703;
  o.classes = 2;
  o.max_steps = steps;
  o.save_freq = 10;
  o.keep_checkpoints = 2;
  return o;
}

/// What two runs have alike: losses since a step, the test, and the parameters of the checkpoint.
struct Outcome {
  std::vector<double> losses;
  std::vector<double> test;
  std::string parameters;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// The outcome on the first `ranks` ranks; the others wait, and get none.
Outcome train_on(const tutti::Communicator& comm, int ranks, Options options, const std::string& folder) {
  const auto some = comm.split(comm.rank() < ranks ? 0 : 1, comm.rank());
  Outcome outcome;
  if (comm.rank() < ranks) {
    options.checkpoint_dir = folder;
    const auto results = train(some, options);
    for (const auto& entry : results.training.losses) outcome.losses.push_back(entry.loss);
    const Evaluation test = results.test.value_or(Evaluation{});
    outcome.test = {test.loss, test.accuracy.value_or(-1), test.auc.value_or(-1)};
    const tutti::CheckpointReader reader(folder + "/step-0000000020");
    for (const auto& name : reader.names())
      if (name.starts_with("layer")) outcome.parameters += name + reader.text(name);
  }
  tutti::barrier(comm);
  return outcome;
}

void expect_same(const tutti::Communicator& comm, int ranks, const Outcome& got, const Outcome& want,
                 const std::string& what) {
  if (comm.rank() >= ranks) return;
  const std::size_t skipped = want.losses.size() - got.losses.size();
  EXPECT_EQ(got.losses, std::vector(want.losses.begin() + static_cast<std::ptrdiff_t>(skipped), want.losses.end()))
      << what << " on " << ranks << " ranks";
  EXPECT_EQ(got.test, want.test) << what << " on " << ranks << " ranks";
  EXPECT_TRUE(got.parameters == want.parameters) << what << " on " << ranks << " ranks";
}

TEST(Reproducible, AnyNumberOfRanksGivesTheSameBits) {
  const auto comm = world();
  const SharedFolder folder(comm);
  struct Case {
    std::string name;
    Options options;
  };
  std::vector<Case> cases{{"mlp", reproducible("mlp", "fp32")},
                          {"double", reproducible("mlp", "fp64")},
                          {"sparse", reproducible("logistic", "fp32")}};
  cases[1].options.clip = 0.01;
  cases[2].options.data = "adult";
  cases[2].options.print_freq = 7;  // a sum of losses is saved, too
  for (auto& [name, options] : cases) {
    const auto self = alone();
    const auto want = train_on(self, 1, options, folder / (name + " alone " + std::to_string(comm.rank())));
    ASSERT_GE(want.test[2], 0) << name << ": has no AUC";
    for (int ranks = 2; ranks <= comm.size(); ++ranks) {
      options.bucket_bytes = ranks % 2 == 0 ? 1 : std::size_t{1} << 20U;
      options.communicators = static_cast<std::size_t>(ranks - 1);
      options.load.clear();
      const auto whole = folder / (name + std::to_string(ranks));
      expect_same(comm, ranks, train_on(comm, ranks, options, whole), want, name);
      options.load = whole + "/step-0000000010";
      expect_same(comm, ranks - 1, train_on(comm, ranks - 1, options, whole + " rest"), want, name + ", continued");
    }
  }
}

TEST(Reproducible, OtherRunsHaveOtherBits) {
  const auto comm = world();
  const SharedFolder folder(comm);
  auto options = reproducible("mlp", "fp32");
  const auto want = train_on(comm, comm.size(), options, folder / "blocks");
  options.blocks = 13;
  EXPECT_NE(train_on(comm, comm.size(), options, folder / "other blocks").parameters, want.parameters);
  options.reproducible = false;
  EXPECT_NE(train_on(comm, comm.size(), options, folder / "no blocks").parameters, want.parameters);
}

TEST(Reproducible, WhatItExcludesIsNamed) {
  const auto comm = world();
  auto options = reproducible("mlp", "fp32");
  options.blocks = static_cast<std::size_t>(comm.size()) - 1;
  if (comm.size() > 1) {
    EXPECT_THROW(train(comm, options), tutti::miniapps::AgreedError);
  }
  options.save_freq = 0;
  const auto is_refused = [](const Options& o) {
    try {
      validate(o);
      return false;
    } catch (const tutti::Error& error) {
      return std::string(error.what()).find("TUTTI_REPRODUCIBLE=1") != std::string::npos;
    }
  };
  EXPECT_FALSE(is_refused(options));
  for (const char* mode : {"bucketed", "sharded", "hook=bf16"}) EXPECT_TRUE(is_refused(with_mode(options, mode)));
  options.gradient_accumulation = 2;
  EXPECT_TRUE(is_refused(options));
}

}  // namespace
}  // namespace sgd
