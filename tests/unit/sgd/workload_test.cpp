// SPDX-License-Identifier: BSD-3-Clause
// What the workloads of tutti-sgd compute beside time: shapes, made gradients, methods, rows and texts of the studies.
#include <gtest/gtest.h>

#include <algorithm>
#include <tutti/error.hpp>

#include "breakdown.hpp"
#include "scaling.hpp"
#include "sweep.hpp"
#include "workload_gradients.hpp"
#include "workload_method.hpp"
#include "workload_shapes.hpp"

namespace {

using namespace sgd;

// Counts and totals as torchvision (resnet18, resnet50) and Hugging Face (BertModel, bert-base-uncased) publish them.
TEST(Shapes, HaveTheCountsOfTheNetworks) {
  EXPECT_EQ(resnet18_shapes().size(), 62U);
  EXPECT_EQ(elements(resnet18_shapes()), 11689512U);
  EXPECT_EQ(resnet50_shapes().size(), 161U);
  EXPECT_EQ(elements(resnet50_shapes()), 25557032U);
  EXPECT_EQ(bert_base_shapes().size(), 199U);
  EXPECT_EQ(elements(bert_base_shapes()), 109482240U);
}

TEST(Shapes, AreInTheOrderOfRegistration) {
  const auto resnet = resnet50_shapes();
  EXPECT_EQ(resnet[0], (Shape{64, 3, 7, 7}));
  EXPECT_EQ(resnet[3], (Shape{64, 64, 1, 1}));
  EXPECT_EQ(resnet[9], (Shape{256, 64, 1, 1}));   // the last of the first block
  EXPECT_EQ(resnet[12], (Shape{256, 64, 1, 1}));  // its shortcut
  EXPECT_EQ(resnet[15], (Shape{64, 256, 1, 1}));
  EXPECT_EQ(resnet.back(), (Shape{1000}));
  const auto basic = resnet18_shapes();
  EXPECT_EQ(basic[3], (Shape{64, 64, 3, 3}));
  EXPECT_EQ(basic[15], (Shape{128, 64, 3, 3}));  // no shortcut in the first stage
  EXPECT_EQ(basic[21], (Shape{128, 64, 1, 1}));
  const auto bert = bert_base_shapes();
  EXPECT_EQ(bert[0], (Shape{30522, 768}));
  EXPECT_EQ(bert[5], (Shape{768, 768}));
  EXPECT_EQ(bert[15], (Shape{3072, 768}));
  EXPECT_EQ(bert.back(), (Shape{768}));
}

TEST(Shapes, OfNoNetworkAreAnErrorThatListsThem) {
  try {
    (void)workload_shapes("vgg");
    FAIL();
  } catch (const tutti::Error& error) {
    EXPECT_NE(std::string(error.what()).find("resnet18, resnet50, bert"), std::string::npos);
  }
}

TEST(MadeGradients, HaveTheAverageThatIsExpected) {
  const std::vector<Shape> shapes{{7, 3, 2}, {11}, {1}};
  const MadeGradients made(shapes);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::vector<float> sum(elements(shapes[i]), 0);
    for (int rank = 0; rank < 3; ++rank) {
      std::vector<float> part(sum.size());
      const std::size_t half = part.size() / 2;  // in two pieces, as backward does
      made.write(i, 0, std::span(part).first(half), rank, 5);
      made.write(i, half, std::span(part).subspan(half), rank, 5);
      for (std::size_t e = 0; e < part.size(); ++e) sum[e] += part[e] / 3;
    }
    EXPECT_EQ(made.count_wrong(i, sum, 3, 5, 1e-6), 0U) << i;
    EXPECT_EQ(made.count_wrong(i, sum, 2, 5, 1e-6), sum.size()) << i;
    EXPECT_EQ(made.count_wrong(i, sum, 3, 4, 1e-6), sum.size()) << "of another step";
    sum.back() += 1;
    EXPECT_EQ(made.count_wrong(i, sum, 3, 5, 1e-6), 1U) << i;
  }
}

TEST(Methods, BeginWithNoneAndKeepWhatBucketsAreTold) {
  Method base;
  base.bucket_bytes = 4096;
  base.progress_thread = true;
  const auto methods = parse_methods("--study-modes", "flat,hook=bf16,none,overlap", base);
  ASSERT_EQ(methods.size(), 4U);
  EXPECT_EQ(methods[0].mode, "none");
  EXPECT_EQ(methods[1].mode, "flat");
  EXPECT_EQ(methods[2].mode, "overlap");
  EXPECT_EQ(methods[2].hook, "bf16");
  EXPECT_FALSE(methods[2].is_exact());
  EXPECT_EQ(methods[3].hook, "none");
  EXPECT_EQ(methods[3].bucket_bytes, 4096U);
  EXPECT_TRUE(methods[3].progress_thread);
  EXPECT_EQ(parse_methods("--study-modes", "overlap", base).front().mode, "none");
  for (const char* wrong : {"fast", "hook=zip", "flat,,overlap"})
    EXPECT_THROW((void)parse_methods("--study-modes", wrong, base), tutti::Error) << wrong;
}

Figures figures_of(const std::string& mode, double step, double exposed) {
  Figures f;
  f.method.name = f.method.mode = mode;
  f.forward = 10;
  f.backward = 20;
  f.update = 3;
  f.step = step;
  f.exposed = exposed;
  return f;
}

TEST(Scaling, RunsPowersOfTwoAndAllRanks) {
  EXPECT_EQ(scaling_ranks(1), std::vector<int>{1});
  EXPECT_EQ(scaling_ranks(4), (std::vector<int>{1, 2, 4}));
  EXPECT_EQ(scaling_ranks(6), (std::vector<int>{1, 2, 4, 6}));
}

TEST(Scaling, HasTheUsualEfficiencies) {
  const std::vector<ScalingPoint> points{{1, {figures_of("flat", 40, 0)}}, {4, {figures_of("flat", 50, 10)}}};
  EXPECT_DOUBLE_EQ(efficiency(points, 1, 0, Growth::weak), 0.8);
  EXPECT_DOUBLE_EQ(efficiency(points, 1, 0, Growth::strong), 0.2);
  EXPECT_NE(scaling_text(points, Growth::weak).find("80.0 %"), std::string::npos);
}

TEST(Breakdown, TellsHiddenFromExposedCommunication) {
  Method overlap;
  const auto methods = breakdown_methods({figures_of("none", 0, 0).method, overlap});
  ASSERT_EQ(methods.size(), 3U);
  EXPECT_EQ(methods[2].mode, "bucketed");
  auto figures = std::vector{figures_of("none", 33, 0), figures_of("overlap", 35, 2), figures_of("bucketed", 41, 8)};
  const auto rows = breakdown_rows(figures, 2);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_DOUBLE_EQ(rows[1].communication, 8);
  EXPECT_DOUBLE_EQ(rows[1].exposed, 2);
  EXPECT_DOUBLE_EQ(rows[1].hidden(), 6);
  EXPECT_DOUBLE_EQ(rows[1].step(), 35);
  EXPECT_NE(breakdown_text(rows).find("75 %"), std::string::npos);
  figures[1].method.hook = "bf16";  // what plain buckets take says nothing of compressed ones
  EXPECT_DOUBLE_EQ(breakdown_rows(figures, 2)[1].communication, 2);
}

TEST(Sweep, MarksTheSizeThatWasChosen) {
  EXPECT_EQ(sweep_sizes().front(), 256U << 10U);
  EXPECT_EQ(sweep_sizes().back(), 100U << 20U);
  const Sweep sweep{{{1U << 20U, false, figures_of("overlap", 35, 2)},
                     {4U << 20U, false, figures_of("overlap", 34, 1)},
                     {4U << 20U, true, figures_of("overlap", 34, 1)}},
                    {figures_of("flat", 41, 8)}};
  EXPECT_NE(sweep_text(sweep).find("4 MiB (auto)"), std::string::npos);
}

}  // namespace
