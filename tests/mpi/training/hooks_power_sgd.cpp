// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mpi/training/bucket_set.hpp"
#include "support/world.hpp"

namespace {

using namespace tutti;
using namespace tutti::test;

const Shapes shapes{{64, 48}, {64}, {32, 8, 3, 3}, {32}, {10, 2}, {}, {200, 90}};

PowerSgdOptions options_of(std::size_t rank, std::size_t start_step) {
  PowerSgdOptions options;
  options.rank = rank;
  options.start_step = start_step;
  return options;
}

/// A gradient that differs from rank to rank, step to step and element to element.
double noise(int rank, unsigned step, std::size_t parameter, std::size_t i) {
  return std::sin(static_cast<double>(rank * 131 + static_cast<int>(step * 17 + parameter * 7)) +
                  static_cast<double>(i) * (1.7 + 0.3 * rank));
}

/// Of one shape on all ranks: sum over k < true_rank of columns times rows, scaled by the rank.
double low_rank_value(int rank, std::size_t true_rank, std::size_t cols, std::size_t i) {
  double sum = 0;
  for (std::size_t k = 0; k < true_rank; ++k)
    sum += std::cos(static_cast<double>((i / cols) * (k + 1))) *
           std::sin(1 + static_cast<double>(i % cols) * (static_cast<double>(k) + 2.5));
  return sum * (rank + 1);
}

template <typename T, typename Value>
void fill(BucketSet<T>& set, const Value& value) {
  for (std::size_t p = 0; p < set.shapes().size(); ++p) {
    const auto gradient = set.gradient(p);
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = static_cast<T>(value(p, i));
  }
}

std::size_t cols_of(const std::vector<std::size_t>& shape) {
  std::size_t cols = 1;
  for (std::size_t d = 1; d < shape.size(); ++d) cols *= shape[d];
  return cols;
}

template <typename T>
class PowerSgd : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PowerSgd, Types);

TYPED_TEST(PowerSgd, ReproducesGradientsOfLowRank) {
  const double tolerance = std::is_same_v<TypeParam, float> ? 1e-5 : 1e-12;
  const int size = world().size();
  std::vector<Communicator> comms;
  for (int k = 0; k < 2; ++k) comms.push_back(Communicator::duplicate(MPI_COMM_WORLD));
  for (const ReduceKind op : {ReduceKind::avg, ReduceKind::sum})
    for (const std::size_t true_rank : {1U, 2U}) {
      BucketSet<TypeParam> set(shapes, 2, op);
      const auto hook = power_sgd_hook(options_of(2, 0));
      hook->prepare(comms, set.buckets());
      const double factor = (op == ReduceKind::avg ? 1.0 / size : 1.0) * size * (size + 1) / 2;
      for (unsigned step = 0; step < 4; ++step) {
        const auto value = [&](int rank, std::size_t p, std::size_t i) {
          return low_rank_value(rank, true_rank, cols_of(shapes[p]), i) * (1 + step);
        };
        fill(set, [&](std::size_t p, std::size_t i) { return value(world().rank(), p, i); });
        run_step(*hook, set.buckets().size(), step + 100U * static_cast<unsigned>(world().rank()));
        for (std::size_t p = 0; p < shapes.size(); ++p)
          for (std::size_t i = 0; i < set.gradient(p).size(); ++i)
            ASSERT_NEAR(set.gradient(p)[i], factor * value(0, p, i), tolerance * factor * (1 + step) * 2)
                << "rank " << true_rank << ", step " << step << ", parameter " << p << ", element " << i;
        for (std::size_t b = 0; b < set.buckets().size(); ++b)
          ASSERT_TRUE(is_equal_everywhere<TypeParam>(world(), set.data(b)));
        EXPECT_TRUE(set.gaps_are_zero());
      }
    }
}

/// Before start_step the hook is an allreduce, and afterwards what has fewer than two dimensions still is.
TYPED_TEST(PowerSgd, LeavesTheFirstStepsAndVectorsAsTheyAre) {
  const int size = world().size();
  BucketSet<TypeParam> set(shapes, 3, ReduceKind::avg);
  const auto hook = power_sgd_hook(options_of(1, 2));
  hook->prepare(std::span(&world(), 1), set.buckets());
  const double tolerance = std::is_same_v<TypeParam, float> ? 1e-6 : 1e-14;
  for (unsigned step = 0; step < 4; ++step) {
    fill(set, [&](std::size_t p, std::size_t i) { return noise(world().rank(), step, p, i); });
    std::size_t bytes = 0;
    run_step(*hook, set.buckets().size(), step);
    for (std::size_t b = 0; b < set.buckets().size(); ++b) bytes += hook->bytes(b);
    double lost = 0;
    for (std::size_t p = 0; p < shapes.size(); ++p) {
      // {10, 2} is too small to pay, {200, 90} and the like are not
      const bool compressed = step >= 2 && shapes[p].size() >= 2 && shapes[p][0] != 10;
      for (std::size_t i = 0; i < set.gradient(p).size(); ++i) {
        double expected = 0;
        for (int r = 0; r < size; ++r) expected += noise(r, step, p, i) / size;
        if (compressed)
          lost += std::fabs(set.gradient(p)[i] - expected);
        else
          ASSERT_NEAR(set.gradient(p)[i], expected, tolerance) << "step " << step << ", parameter " << p;
      }
    }
    std::size_t all = 0;
    for (const GradientBucket& bucket : set.buckets()) all += bucket.data.count * sizeof(TypeParam);
    if (step < 2) {
      EXPECT_EQ(bytes, all);
    } else {
      EXPECT_GT(lost, 1);
      const std::size_t factors = (64 + 48) + (32 + 72) + (200 + 90);
      const std::size_t vectors = 64 + 32 + 20 + 1;
      EXPECT_EQ(bytes, (factors + vectors) * sizeof(TypeParam));
    }
  }
}

/// What one step loses later steps make up for: the sums over many steps differ by what is still owed, which stays
/// bounded, while the sums grow.
TYPED_TEST(PowerSgd, ErrorFeedbackMakesSumsConverge) {
  const int size = world().size();
  const Shapes one{{40, 30}};
  for (const bool feedback : {true, false}) {
    BucketSet<TypeParam> set(one, 1, ReduceKind::avg);
    PowerSgdOptions options = options_of(1, 0);
    options.min_compression_rate = 1;
    options.error_feedback = feedback;
    const auto hook = power_sgd_hook(options);
    hook->prepare(std::span(&world(), 1), set.buckets());
    std::vector<double> got(1200), wanted(1200);
    constexpr unsigned steps = 300;
    for (unsigned step = 0; step < steps; ++step) {
      fill(set, [&](std::size_t p, std::size_t i) { return noise(world().rank(), 0, p, i); });
      run_step(*hook, 1, step);
      for (std::size_t i = 0; i < got.size(); ++i) {
        got[i] += static_cast<double>(set.gradient(0)[i]);
        for (int r = 0; r < size; ++r) wanted[i] += noise(r, 0, 0, i) / size;
      }
    }
    double off = 0;
    double length = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      off += (got[i] - wanted[i]) * (got[i] - wanted[i]);
      length += wanted[i] * wanted[i];
    }
    if (feedback)
      EXPECT_LT(std::sqrt(off / length), 0.05);
    else
      EXPECT_GT(std::sqrt(off / length), 0.2);
  }
}

template <typename T>
std::vector<T> all_gradients(BucketSet<T>& set) {
  std::vector<T> all;
  for (std::size_t p = 0; p < set.shapes().size(); ++p)
    all.insert(all.end(), set.gradient(p).begin(), set.gradient(p).end());
  return all;
}

/// Stopped after five steps and taken up by another hook, and then with other buckets: the bits of going on.
TYPED_TEST(PowerSgd, GoesOnFromItsStateAndOverNewBuckets) {
  const auto step_of = [&](CommunicationHook& hook, BucketSet<TypeParam>& set, unsigned step) {
    fill(set, [&](std::size_t p, std::size_t i) { return noise(world().rank(), step, p, i); });
    run_step(hook, set.buckets().size(), step * 3 + static_cast<unsigned>(world().rank()));
  };
  CommunicatorOptions same_bits;  // else sums of what is not compressed depend on what is in the bucket beside it
  same_bits.reproducible = true;
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD, same_bits);
  BucketSet<TypeParam> set(shapes, 2, ReduceKind::avg);
  const auto straight = power_sgd_hook(options_of(2, 1));
  straight->prepare(std::span(&comm, 1), set.buckets());
  const auto resumed = power_sgd_hook(options_of(2, 1));
  BucketSet<TypeParam> coarse(shapes, 4, ReduceKind::avg);
  for (unsigned step = 0; step < 5; ++step) step_of(*straight, set, step);
  const std::vector<std::byte> state = straight->save();
  resumed->prepare(std::span(&comm, 1), coarse.buckets());
  resumed->load(state);
  EXPECT_EQ(resumed->save(), state);
  for (unsigned step = 5; step < 8; ++step) {
    step_of(*straight, set, step);
    step_of(*resumed, coarse, step);
    ASSERT_EQ(all_gradients(set), all_gradients(coarse)) << "step " << step;
  }
  BucketSet<TypeParam> single(shapes, 1, ReduceKind::avg);
  resumed->prepare(std::span(&comm, 1), single.buckets());
  step_of(*straight, set, 8);
  step_of(*resumed, single, 8);
  EXPECT_EQ(all_gradients(set), all_gradients(single));
}

TEST(PowerSgdHook, RefusesStatesOfOtherShapes) {
  BucketSet<float> set(shapes, 2, ReduceKind::avg);
  const auto hook = power_sgd_hook(options_of(2, 0));
  hook->prepare(std::span(&world(), 1), set.buckets());
  BucketSet<float> other({{100, 90}, {7}}, 2, ReduceKind::avg);
  const auto stranger = power_sgd_hook(options_of(2, 0));
  stranger->prepare(std::span(&world(), 1), other.buckets());
  const auto state = stranger->save();
  EXPECT_THROW(hook->load(state), Error);
  auto mine = hook->save();
  mine.pop_back();
  EXPECT_THROW(hook->load(mine), Error);
  mine.resize(mine.size() + 2);
  EXPECT_THROW(hook->load(mine), Error);
}

TEST(PowerSgdHook, RefusesWrongOptions) {
  EXPECT_THROW((void)power_sgd_hook(options_of(0, 0)), Error);
  PowerSgdOptions options;
  options.min_compression_rate = 0;
  EXPECT_THROW((void)power_sgd_hook(options), Error);
}

/// A NaN or an infinity on one rank is seen in that step, on all ranks, and then forgotten.
TEST(PowerSgdHook, OneNanDoesNotSpoilTheStepsAfterIt) {
  const double most = std::numeric_limits<double>::max();
  for (const double bad : {std::nan(""), HUGE_VAL, most})
    for (const bool feedback : {true, false}) {
      BucketSet<double> set({{50, 40}, {30, 60}}, 2, ReduceKind::avg);
      PowerSgdOptions options = options_of(2, 0);
      options.error_feedback = feedback;
      const auto hook = power_sgd_hook(options);
      hook->prepare(std::span(&world(), 1), set.buckets());
      for (unsigned step = 0; step < 6; ++step) {
        fill(set, [&](std::size_t p, std::size_t i) { return low_rank_value(0, 2, p == 0 ? 40 : 60, i); });
        if (step == 2 && world().rank() == world().size() - 1) set.gradient(0)[777] = bad;
        run_step(*hook, 1, step);
        const auto is_bad = [](double x) { return !std::isfinite(x); };
        for (const std::size_t p : {0U, 1U}) {
          const auto result = set.gradient(p);
          const bool spoiled = step == 2 && p == 0;
          EXPECT_EQ(std::any_of(result.begin(), result.end(), is_bad), spoiled)
              << bad << ", parameter " << p << ", step " << step;
          for (std::size_t i = 0; i < result.size() && !spoiled; ++i)
            ASSERT_NEAR(result[i], low_rank_value(0, 2, p == 0 ? 40 : 60, i), 1e-9) << bad << ", step " << step;
        }
        ASSERT_TRUE(is_equal_everywhere<double>(world(), set.data(0)) || step == 2);
      }
    }
}

/// Each option changes the result or the bytes as it says.
TEST(PowerSgdHook, OptionsHaveTheirEffect) {
  const auto after = [](const PowerSgdOptions& options, unsigned steps) {
    BucketSet<float> set({{50, 40}}, 1, ReduceKind::avg);
    const auto hook = power_sgd_hook(options);
    hook->prepare(std::span(&world(), 1), set.buckets());
    for (unsigned step = 0; step < steps; ++step) {
      fill(set, [&](std::size_t, std::size_t i) { return noise(0, step, 0, i); });
      run_step(*hook, 1, step);
    }
    return std::pair(std::vector<float>(set.gradient(0).begin(), set.gradient(0).end()), hook->bytes(0));
  };
  const PowerSgdOptions usual = options_of(2, 0);
  const auto [values, bytes] = after(usual, 3);
  EXPECT_EQ(values, after(usual, 3).first);
  EXPECT_EQ(bytes, (50 + 40) * 2 * sizeof(float));
  PowerSgdOptions other = usual;
  other.rank = 4;
  EXPECT_EQ(after(other, 3).second, 2 * bytes);
  other = usual;
  other.seed = 99;
  EXPECT_NE(after(other, 1).first, after(usual, 1).first);
  other = usual;
  other.warm_start = false;
  EXPECT_EQ(after(other, 1).first, after(usual, 1).first) << "there is nothing to start from yet";
  EXPECT_NE(after(other, 3).first, values);
  other = usual;
  other.error_feedback = false;
  EXPECT_NE(after(other, 3).first, values);
  other = usual;
  other.min_compression_rate = 50 * 40 / (90 * 2.0);
  const std::size_t all = (50 * 40 + 3) * sizeof(float);  // with the gap behind the entry
  EXPECT_EQ(after(other, 3).second, all) << "does not pay";
  other.min_compression_rate *= 0.999;
  EXPECT_EQ(after(other, 3).second, bytes) << "just pays";
  other = usual;
  other.start_step = 3;
  EXPECT_EQ(after(other, 3).second, all);
  EXPECT_EQ(after(other, 4).second, bytes);
}

TEST(PowerSgdHook, GradientsOfZeroAndThenOthers) {
  BucketSet<float> set({{50, 40}}, 1, ReduceKind::avg);
  const auto hook = power_sgd_hook(options_of(2, 0));
  hook->prepare(std::span(&world(), 1), set.buckets());
  for (unsigned step = 0; step < 3; ++step) {
    const double size = step == 1 ? 0 : 1;
    fill(set, [&](std::size_t, std::size_t i) { return size * low_rank_value(0, 2, 40, i); });
    run_step(*hook, 1, step);
    for (std::size_t i = 0; i < 2000; ++i)
      ASSERT_NEAR(set.gradient(0)[i], size * low_rank_value(0, 2, 40, i), 3e-5) << "step " << step;
  }
}

}  // namespace
