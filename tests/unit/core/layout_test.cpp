// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tutti/buffer.hpp>
#include <tutti/error.hpp>
#include <tutti/layout.hpp>
#include <vector>

namespace tutti {
namespace {

/// The places of the elements of n repetitions, in order.
std::vector<std::ptrdiff_t> places(const Layout& layout, std::size_t n = 1) {
  const auto grid = layout.repeated(n);
  std::vector<std::ptrdiff_t> found;
  if (!grid) {
    for (std::size_t i = 0; i < n * layout.elements(); ++i) found.push_back(static_cast<std::ptrdiff_t>(i));
    return found;
  }
  EXPECT_EQ(grid->elements, n * layout.elements());
  for (std::size_t i = 0; i < grid->elements; ++i) {
    std::ptrdiff_t at = grid->offset;
    std::size_t rest = i;
    for (std::size_t d = grid->dimensions; d-- > 0; rest /= grid->extents[d])
      at += static_cast<std::ptrdiff_t>(rest % grid->extents[d]) * grid->strides[d];
    found.push_back(at);
  }
  return found;
}

using Places = std::vector<std::ptrdiff_t>;
using Sizes = std::vector<std::size_t>;

template <typename Call>
void expect_refused(const Call& call, const std::string& word) {
  try {
    (void)call();
    ADD_FAILURE() << "accepted a wrong " << word;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

TEST(Layout, VectorHasBlocksAStrideApart) {
  EXPECT_EQ(places(Layout::vector(3, 2, 5)), (Places{0, 1, 5, 6, 10, 11}));
  EXPECT_EQ(Layout::vector(3, 2, 5).extent(), 12);
  EXPECT_EQ(places(Layout::vector(3, 1, -4)), (Places{0, -4, -8}));
  EXPECT_EQ(places(Layout::vector(2, 1, 3), 2), (Places{0, 3, 4, 7}));
  EXPECT_EQ(Layout::vector(0, 4, 9).elements(), 0U);
}

TEST(Layout, ContiguousElementsNeedNoGrid) {
  EXPECT_EQ(Layout::vector(3, 5, 5).repeated(1), nullptr);
  EXPECT_EQ(Layout::vector(3, 5, 5).repeated(7), nullptr);
  EXPECT_EQ(Layout::vector(1, 1, 1).elements(), 1U);
  EXPECT_EQ(Layout::subarray(Sizes{4, 6}, Sizes{2, 6}, Sizes{0, 0}).repeated(1), nullptr);
  EXPECT_NE(Layout::subarray(Sizes{4, 6}, Sizes{2, 6}, Sizes{1, 0}).repeated(1), nullptr) << "it begins later";
}

TEST(Layout, SubarrayOfBothOrders) {
  EXPECT_EQ(places(Layout::subarray(Sizes{3, 4}, Sizes{2, 2}, Sizes{1, 2})), (Places{6, 7, 10, 11}));
  EXPECT_EQ(places(Layout::subarray(Sizes{4, 3}, Sizes{2, 2}, Sizes{2, 1}, ArrayOrder::fortran)),
            (Places{6, 7, 10, 11}));
  const Layout cube = Layout::subarray(Sizes{2, 3, 4}, Sizes{2, 1, 2}, Sizes{0, 1, 1});
  EXPECT_EQ(places(cube), (Places{5, 6, 17, 18}));
  EXPECT_EQ(cube.extent(), 24);
  EXPECT_EQ(places(cube, 2), (Places{5, 6, 17, 18, 29, 30, 41, 42}));
}

TEST(Layout, ResizedRepetitionsInterleave) {
  const Layout column = Layout::vector(3, 1, 4).resized(1);
  EXPECT_EQ(places(column, 2), (Places{0, 4, 8, 1, 5, 9}));
}

TEST(Layout, StridedTakesAnyStrides) {
  EXPECT_EQ(places(Layout::strided(Sizes{2, 3}, Places{1, 10})), (Places{0, 10, 20, 1, 11, 21}));
  EXPECT_EQ(places(Layout::strided(Sizes{}, Places{})), (Places{0}));
  EXPECT_EQ(places(Layout::strided(Sizes{3}, Places{0})), (Places{0, 0, 0}));
  EXPECT_EQ(Layout::strided(Sizes{2, 5, 3}, Places{15, 3, 1}).repeated(1), nullptr) << "dimensions that continue";
}

TEST(Layout, WrongOnesAreRefused) {
  constexpr std::size_t huge = std::numeric_limits<std::size_t>::max() / 2;
  expect_refused([] { return Layout::subarray(Sizes{4}, Sizes{3}, Sizes{2}); }, "subsizes[0]");
  expect_refused([] { return Layout::subarray(Sizes{4, 2}, Sizes{3}, Sizes{0, 0}); }, "subsizes");
  expect_refused([] { return Layout::strided(Sizes{4, 2}, Places{1}); }, "strides");
  expect_refused([] { return Layout::strided(Sizes(16, 1), Places(16, 1)); }, "dimensions");
  expect_refused([] { return Layout::vector(huge, 4, 4); }, "address space");
  expect_refused([] { return Layout::vector(huge / 2, 1, 1).repeated(16); }, "address space");
  EXPECT_NO_THROW((void)Layout::strided(Sizes(15, 2), Places(15, 7)));
}

TEST(Buffer, TakesALayout) {
  std::vector<float> data(20);
  const Buffer column(data.data() + 1, Layout::vector(4, 1, 5));
  EXPECT_EQ(column.count, 4U);
  EXPECT_EQ(column.type, Datatype(DatatypeKind::float32));
  ASSERT_NE(column.layout, nullptr);
  const ConstBuffer same = column;
  EXPECT_EQ(same.layout, column.layout);
  const ConstBuffer rows(data.data(), 3, Layout::vector(1, 5, 5));
  EXPECT_EQ(rows.count, 15U);
  EXPECT_EQ(rows.layout, nullptr);
}

}  // namespace
}  // namespace tutti
