// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mpi/training/bucket_set.hpp"
#include "support/world.hpp"

namespace {

using namespace tutti;
using namespace tutti::test;

const Shapes shapes{{40, 50}, {7}, {3, 11, 5}, {}, {20'011}};

template <typename T, typename Narrow>
struct Types {
  using Wide = T;
  using Half = Narrow;
};

template <typename Case>
class NarrowHooks : public testing::Test {
 protected:
  static std::shared_ptr<CommunicationHook> make() {
    return std::is_same_v<typename Case::Half, bfloat16_t> ? bf16_hook() : fp16_hook();
  }
};
using Cases = testing::Types<Types<float, bfloat16_t>, Types<float, float16_t>, Types<double, bfloat16_t>,
                             Types<double, float16_t>>;
TYPED_TEST_SUITE(NarrowHooks, Cases);

/// Small integers, and their sums over the ranks, have 8 bits: nothing is lost.
TYPED_TEST(NarrowHooks, SumsOfRepresentableNumbersAreExact) {
  using T = typename TypeParam::Wide;
  const int size = world().size();
  std::vector<Communicator> comms;
  comms.push_back(Communicator::duplicate(MPI_COMM_WORLD));
  comms.push_back(Communicator::duplicate(MPI_COMM_WORLD));
  for (const std::size_t used : {1U, 2U}) {
    BucketSet<T> set(shapes, 2, ReduceKind::sum);
    const auto hook = this->make();
    hook->prepare(std::span(comms).first(used), set.buckets());
    for (unsigned step = 0; step < 3; ++step) {
      for (std::size_t p = 0; p < shapes.size(); ++p) {
        const auto gradient = set.gradient(p);
        for (std::size_t i = 0; i < gradient.size(); ++i)
          gradient[i] = static_cast<T>(static_cast<int>((i + p + step) % 15) - 7 + world().rank());
      }
      run_step(*hook, set.buckets().size(), step * 31 + static_cast<unsigned>(world().rank()));
      for (std::size_t p = 0; p < shapes.size(); ++p) {
        const auto gradient = set.gradient(p);
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          const int one = static_cast<int>((i + p + step) % 15) - 7;
          ASSERT_EQ(gradient[i], static_cast<T>(one * size + size * (size - 1) / 2)) << "parameter " << p << " " << i;
        }
      }
      EXPECT_TRUE(set.gaps_are_zero());
    }
  }
}

/// Each rank's part is divided and rounded, the parts are added in float32 and rounded once.
TYPED_TEST(NarrowHooks, AverageRoundsEachPartAndTheSumOnce) {
  using T = typename TypeParam::Wide;
  using Half = typename TypeParam::Half;
  const int size = world().size();
  BucketSet<T> set(shapes, 3, ReduceKind::avg);
  const auto hook = this->make();
  hook->prepare(std::span(&world(), 1), set.buckets());
  const auto value = [](int rank, std::size_t p, std::size_t i) {
    return static_cast<T>(std::sin(static_cast<double>(i * 7 + p + 1) * (rank + 1)));
  };
  for (std::size_t p = 0; p < shapes.size(); ++p) {
    const auto gradient = set.gradient(p);
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = value(world().rank(), p, i);
  }
  run_step(*hook, set.buckets().size(), static_cast<unsigned>(world().rank()));
  for (std::size_t p = 0; p < shapes.size(); ++p) {
    const auto gradient = set.gradient(p);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      float total = 0;
      for (int r = 0; r < size; ++r) {
        const Half part(static_cast<float>(value(r, p, i) / static_cast<T>(size)));
        total += static_cast<float>(part);
      }
      ASSERT_EQ(gradient[i], static_cast<T>(static_cast<float>(Half(total)))) << "parameter " << p << " " << i;
    }
  }
  for (std::size_t b = 0; b < set.buckets().size(); ++b) {
    EXPECT_TRUE(is_equal_everywhere<T>(world(), set.data(b)));
    EXPECT_EQ(hook->bytes(b), set.data(b).size() * 2);
  }
}

TYPED_TEST(NarrowHooks, NanAndOverflowAreSeenOnAllRanks) {
  using T = typename TypeParam::Wide;
  BucketSet<T> set({{3}}, 1, ReduceKind::avg);
  const auto hook = this->make();
  hook->prepare(std::span(&world(), 1), set.buckets());
  const bool last = world().rank() == world().size() - 1;
  set.gradient(0)[0] = last ? std::numeric_limits<T>::quiet_NaN() : T(1);
  set.gradient(0)[1] = last ? std::numeric_limits<T>::infinity() : T(1);
  set.gradient(0)[2] = T(2);
  run_step(*hook, 1, 0);
  EXPECT_TRUE(std::isnan(set.gradient(0)[0]));
  EXPECT_TRUE(std::isinf(set.gradient(0)[1]));
  EXPECT_NEAR(set.gradient(0)[2], T(2), T(0.02));
}

TEST(Hooks, NarrowOnesPassNarrowBucketsOn) {
  BucketSet<bfloat16_t> set({{5}}, 1, ReduceKind::sum);
  const auto hook = fp16_hook();
  GradientBucket bucket = set.buckets()[0];
  std::vector<bfloat16_t> data(8, bfloat16_t(1e30F));  // float16 could not hold it
  bucket.data = Buffer(data);
  hook->prepare(std::span(&world(), 1), std::span(&bucket, 1));
  run_step(*hook, 1, 0);
  EXPECT_NEAR(static_cast<float>(data[4]), 1e30F * static_cast<float>(world().size()), 1e28F * 4);
  EXPECT_EQ(hook->bytes(0), 16U);
}

TEST(Hooks, RefuseIntegersAndForeignStates) {
  std::vector<std::int32_t> data(4);
  GradientBucket bucket;
  bucket.data = Buffer(data);
  for (const auto& hook : {bf16_hook(), power_sgd_hook()}) {
    EXPECT_THROW(hook->prepare(std::span(&world(), 1), std::span(&bucket, 1)), Error) << hook->name();
    const std::vector<std::byte> state(5);
    EXPECT_THROW(hook->load(state), Error) << hook->name();
  }
  EXPECT_NO_THROW(bf16_hook()->load({}));
  EXPECT_TRUE(bf16_hook()->replicates());
}

}  // namespace
