// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <limits>

#include "mpi/training/model.hpp"
#include "support/world.hpp"

namespace {

using namespace tutti;
using namespace tutti::test;

const std::vector<std::vector<std::size_t>> shapes{{60, 50}, {50}, {}, {20'000}};

double mean_gradient(unsigned step, std::size_t p, std::size_t i) {
  double total = 0;
  for (int r = 0; r < world().size(); ++r) total += Model<double>::gradient_of(r, step, p, i);
  return total / world().size();
}

double expected_norm(unsigned step) {
  long double squares = 0;
  for (std::size_t p = 0; p < shapes.size(); ++p) {
    const std::size_t count = p == 0 ? 3000 : p == 1 ? 50 : p == 2 ? 1 : 20'000;
    for (std::size_t i = 0; i < count; ++i) squares += std::pow(static_cast<long double>(mean_gradient(step, p, i)), 2);
  }
  return static_cast<double>(std::sqrt(squares));
}

template <typename T>
class Clipping : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Clipping, Types);

TYPED_TEST(Clipping, ScalesToTheNormOnAllRanksAlike) {
  const double tolerance = std::is_same_v<TypeParam, float> ? 1e-5 : 1e-12;
  for (const bool sharded : {false, true})
    for (const bool own : {false, true}) {
      Model<TypeParam> model(shapes, own);
      ReducerOptions options;
      options.bucket_bytes = 1U << 15U;
      options.first_bucket_bytes = 1U << 12U;
      if (sharded) options.hook = sharding_hook();
      GradientReducer reducer(world(), options);
      model.add_to(reducer);
      reducer.prepare();
      for (unsigned step = 0; step < 3; ++step) {
        model.backward(reducer, world().rank(), step);
        reducer.wait();
        const double wanted = expected_norm(step);
        const double norm = clip_gradients(reducer, world(), 2.0);
        EXPECT_NEAR(norm, wanted, 1e-6 * wanted);
        double same = norm;
        bcast(world(), Buffer(&same, 1), 0);
        EXPECT_EQ(norm, same);
        EXPECT_NEAR(clip_gradients(reducer, world(), 2.5), 2.0, 1e-5);  // below: nothing is scaled
        EXPECT_NEAR(clip_gradients(reducer, world(), 1.0), 2.0, 1e-5);
        if (sharded) continue;
        for (std::size_t p = 0; p < shapes.size(); ++p) {
          const Buffer gradient = reducer.gradient(p);
          for (std::size_t i = 0; i < gradient.count; ++i)
            ASSERT_NEAR(static_cast<const TypeParam*>(gradient.data)[i], mean_gradient(step, p, i) / wanted, tolerance);
        }
      }
    }
}

TYPED_TEST(Clipping, NanComesOutAndUnusedParametersDoNotCount) {
  Model<TypeParam> model(shapes, true);
  ReducerOptions options;
  options.find_unused = true;
  GradientReducer reducer(world(), options);
  model.add_to(reducer);
  reducer.prepare();
  for (std::size_t p = 0; p < 2; ++p) {
    auto* gradient = static_cast<TypeParam*>(reducer.gradient(p).data);
    std::fill_n(gradient, reducer.gradient(p).count, p == 1 ? TypeParam(2) : TypeParam(1000));
  }
  reducer.ready(1);
  reducer.wait();
  EXPECT_NEAR(clip_gradients(reducer, world(), 1e3), 2 * std::sqrt(50.0), 1e-5);
  EXPECT_EQ(static_cast<TypeParam*>(reducer.gradient(0).data)[0], TypeParam(1000));
  static_cast<TypeParam*>(reducer.gradient(1).data)[7] = std::numeric_limits<TypeParam>::quiet_NaN();
  reducer.ready(1);
  reducer.wait();
  EXPECT_TRUE(std::isnan(clip_gradients(reducer, world(), 1.0)));
}

TEST(Clip, RefusesNormsThatAreNotPositive) {
  GradientReducer reducer(world());
  EXPECT_THROW((void)clip_gradients(reducer, world(), 0), Error);
  EXPECT_THROW((void)clip_gradients(reducer, world(), -1), Error);
  EXPECT_THROW((void)clip_gradients(reducer, world(), std::nan("")), Error);
}

}  // namespace
