// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>
#include <tutti/error.hpp>
#include <tutti/kernels/segmented_sum.hpp>
#include <vector>

namespace {

using namespace tutti;
using namespace tutti::kernels;

template <typename T>
class SegmentedSum : public testing::Test {};
using Types = testing::Types<float, double, float16_t, bfloat16_t>;
TYPED_TEST_SUITE(SegmentedSum, Types);

template <typename T>
using Wide = std::conditional_t<sizeof(T) == 2, float, T>;

TYPED_TEST(SegmentedSum, AddsInOrderAndRoundsOnce) {
  const auto type = datatype_of<TypeParam>().kind();
  std::mt19937 generator(4);
  for (const std::size_t dim : {1U, 3U, 17U, 64U}) {
    std::vector<std::int64_t> offsets{2};
    for (int s = 0; s < 40; ++s) offsets.push_back(offsets.back() + static_cast<std::int64_t>(generator() % 9));
    std::vector<TypeParam> values(static_cast<std::size_t>(offsets.back()) * dim);
    for (auto& x : values)
      x = static_cast<TypeParam>(static_cast<float>(static_cast<int>(generator() % 301) - 150) / 64.0F);
    std::vector<TypeParam> output(40 * dim);
    segmented_sum(type, values.data(), dim, offsets, output.data(), 1);
    for (std::size_t s = 0; s < 40; ++s) {
      for (std::size_t d = 0; d < dim; ++d) {
        Wide<TypeParam> sum = 0;
        for (auto row = static_cast<std::size_t>(offsets[s]); row < static_cast<std::size_t>(offsets[s + 1]); ++row) {
          sum += static_cast<Wide<TypeParam>>(values[row * dim + d]);
        }
        ASSERT_EQ(static_cast<float>(output[s * dim + d]), static_cast<float>(static_cast<TypeParam>(sum)));
      }
    }
    for (const std::size_t partitions : {2U, 3U, 7U, 60U}) {
      std::vector<TypeParam> other(40 * dim);
      segmented_sum(type, values.data(), dim, offsets, other.data(), partitions);
      for (std::size_t i = 0; i < other.size(); ++i) {
        ASSERT_EQ(static_cast<float>(other[i]), static_cast<float>(output[i]));
      }
    }
  }
}

TEST(SegmentedSumOf, RefusesBadArguments) {
  float x = 1;
  const std::vector<std::int64_t> descending{1, 0};
  const std::vector<std::int64_t> none;
  const std::vector<std::int64_t> one{0, 1};
  EXPECT_THROW(segmented_sum(DatatypeKind::float32, &x, 1, descending, &x), Error);
  EXPECT_THROW(segmented_sum(DatatypeKind::float32, &x, 1, none, &x), Error);
  EXPECT_THROW(segmented_sum(DatatypeKind::int32, &x, 1, one, &x), Error);
}

}  // namespace
