// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/pack.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace tutti::kernels {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes numbered(std::size_t n) {
  Bytes bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(i * 37 + i / 251);
  return bytes;
}

/// The place of element i of a grid, in elements.
std::size_t place(const detail::Grid& grid, std::size_t i) {
  std::ptrdiff_t at = grid.offset;
  for (std::size_t d = grid.dimensions; d-- > 0; i /= grid.extents[d])
    at += static_cast<std::ptrdiff_t>(i % grid.extents[d]) * grid.strides[d];
  return static_cast<std::size_t>(at);
}

/// Grids of one to four dimensions, some backwards, in an array of 600 elements.
std::vector<Layout> layouts() {
  using Sizes = std::vector<std::size_t>;
  using Strides = std::vector<std::ptrdiff_t>;
  return {Layout::vector(7, 1, 11),
          Layout::vector(7, 3, 11),
          Layout::subarray(Sizes{9, 8, 7}, Sizes{4, 3, 2}, Sizes{2, 5, 1}),
          Layout::subarray(Sizes{9, 8, 7}, Sizes{4, 3, 2}, Sizes{2, 5, 1}, ArrayOrder::fortran),
          Layout::subarray(Sizes{30}, Sizes{3}, Sizes{25}),
          Layout::subarray(Sizes{30}, Sizes{1}, Sizes{25}),
          Layout::strided(Sizes{2, 3, 2, 4}, Strides{1, 17, 60, 130}),
          Layout::subarray(Sizes{10, 10}, Sizes{10, 1}, Sizes{0, 9})};
}

TEST(Pack, CopiesTheElementsInOrderAndBack) {
  for (const std::size_t unit : {1, 2, 3, 4, 8, 12, 16, 24, 32, 64, 80})
    for (const Layout& layout : layouts()) {
      const auto grid = layout.repeated(1);
      ASSERT_NE(grid, nullptr);
      const Bytes from = numbered(600 * unit);
      Bytes packed(grid->elements * unit + 1, 0xEE);
      pack(*grid, unit, from.data(), packed.data());
      for (std::size_t i = 0; i < grid->elements; ++i)
        EXPECT_EQ(std::memcmp(&packed[i * unit], &from[place(*grid, i) * unit], unit), 0) << unit << " " << i;
      EXPECT_EQ(packed.back(), 0xEE) << "wrote behind the end";
      for (const std::size_t n : {std::size_t{0}, std::size_t{1}, grid->elements - 1, grid->elements}) {
        Bytes to(600 * unit, 0x55);
        Bytes expected = to;
        for (std::size_t i = 0; i < n; ++i) std::memcpy(&expected[place(*grid, i) * unit], &packed[i * unit], unit);
        unpack(*grid, unit, packed.data(), n, to.data());
        EXPECT_EQ(to, expected) << unit << " " << n;
      }
    }
}

TEST(Pack, GoesBackwards) {
  const std::vector<int> from = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<int> packed(4);
  pack(*Layout::vector(4, 1, -3).repeated(1), sizeof(int), &from[9], packed.data());
  EXPECT_EQ(packed, (std::vector<int>{9, 6, 3, 0}));
}

}  // namespace
}  // namespace tutti::kernels
