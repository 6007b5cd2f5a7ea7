// SPDX-License-Identifier: BSD-3-Clause
#include "common/results.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "support/temporary_folder.hpp"

namespace {

using namespace tutti::miniapps;

TEST(Results, AreJsonInFullPrecision) {
  const TemporaryFolder folder;
  Results results;
  results.configuration = {{"learning-rate", "0.1"}};
  results.losses = {{1, 0.1 + 1e-17 * 3}, {2, 1.0 / 3.0}};
  results.tests = {{7, {.samples = 10, .auc = 0.5}}, {9, {.samples = 10, .auc = 0.75, .calibration = NAN}}};
  results.phases = {{"data", 1.5}};
  write_results(folder / "r.json", results);
  const auto json = nlohmann::json::parse(read_all(folder / "r.json"));
  EXPECT_EQ(json["losses"][1]["loss"].get<double>(), 1.0 / 3.0);
  EXPECT_EQ(json["losses"][1]["iteration"], 2);
  EXPECT_EQ(json["test"]["auc"], 0.75);
  EXPECT_TRUE(json["test"]["calibration"].is_null());
  EXPECT_EQ(json["tests"][0]["auc"], 0.5);
  EXPECT_EQ(json["tests"][1]["iteration"], 9);
  EXPECT_EQ(json["configuration"]["learning-rate"], "0.1");
  EXPECT_EQ(json["phases"]["data"], 1.5);
  EXPECT_TRUE(contains(error_of([&] { write_results(folder / "no" / "r.json", results); }), "r.json"));
  EXPECT_TRUE(contains(error_of([&] { check_writable(folder / "no" / "r.json"); }), "r.json"));
}

}  // namespace
