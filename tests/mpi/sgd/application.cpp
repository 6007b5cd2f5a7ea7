// SPDX-License-Identifier: BSD-3-Clause
// tutti-sgd as a whole, but for its command line.
#include <nlohmann/json.hpp>
#include <tutti/collectives/barrier.hpp>

#include "common/agree.hpp"
#include "run.hpp"
#include "support/temporary_folder.hpp"
#include "training_runs.hpp"

namespace sgd {
namespace {

std::string adult_folder() { return TUTTI_SOURCE_DIR "/miniapps/common/data/adult"; }

TEST(Application, LogisticRegressionOfAdultReachesItsAuc) {
  const auto comm = world();
  Options options;
  options.train_file = adult_folder();
  options.epochs = 5;
  options.learning_rate = 0.5;
  const auto results = train(comm, options);
  ASSERT_TRUE(results.test && results.test->auc);
  EXPECT_EQ(results.test->samples, 16281U);
  EXPECT_GE(*results.test->auc, 0.908);
  EXPECT_GE(*results.test->accuracy, 0.855);
}

TEST(Application, CompareRunsEveryModeAndWritesJson) {
  const auto comm = world();
  const TemporaryFolder folder;
  auto options = small_run("mlp", "fp32");
  options.momentum = 0;
  options.max_steps = 40;
  options.print_freq = 10;
  options.compare = true;
  options.json_file = folder / "results.json";
  run_application(comm, options);
  if (comm.rank() != 0) {
    return;
  }
  const auto json = nlohmann::json::parse(read_all(options.json_file));
  EXPECT_EQ(json.at("ranks"), comm.size());
  ASSERT_EQ(json.at("modes").size(), 11U);
  const double want = json["modes"][0].at("losses").back().at("loss");
  for (const auto& mode : json["modes"]) {
    const std::string name = mode.at("mode");
    const double loss = mode.at("losses").back().at("loss");
    const bool equal = name.find("hook") == std::string::npos && name != "local";
    EXPECT_NEAR(loss, want, (equal ? 1e-5 : 0.2) * want) << name;
    EXPECT_GT(mode.at("bytes_per_step"), 0) << name;
    EXPECT_EQ(mode.at("steps"), 40) << name;
  }
}

TEST(Application, ErrorsAreAgreed) {
  const auto comm = world();
  Options options;
  options.data = "libsvm";
  options.train_file = "/nowhere/a.svm";
  try {
    run_application(comm, options);
    FAIL() << "no error";
  } catch (const tutti::miniapps::AgreedError& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/a.svm"), std::string::npos);
  }
  options = small_run("logistic", "fp32");
  options.model = "linear";
  options.learning_rate = 1e6;
  options.max_steps = 20;
  EXPECT_THROW(train(comm, options), tutti::miniapps::AgreedError);
  options.stop_on_nan = false;
  EXPECT_NO_THROW(train(comm, options));  // divergence is then shown by the loss
}

}  // namespace
}  // namespace sgd
