// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/pack.hpp"

#include "kernels/copy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace tutti::kernels {
namespace {

using detail::Grid;

/// The fastest dimension of a grid: elements that one loop copies.
struct Row {
  std::size_t elements;
  std::ptrdiff_t stride;
};

Row row_of(const Grid& grid) {
  if (grid.dimensions == 0) return {1, 1};
  return {grid.extents[grid.dimensions - 1], grid.strides[grid.dimensions - 1]};
}

/// Calls `act` with the place of each row's first element, in elements, from the row `first` on until it returns false.
template <typename Act>
void for_each_row(const Grid& grid, std::size_t first, const Act& act) {
  const std::size_t outer = grid.dimensions == 0 ? 0 : grid.dimensions - 1;
  std::array<std::size_t, Grid::most_dimensions> index{};
  std::ptrdiff_t at = grid.offset;
  for (std::size_t d = outer; d-- > 0; first /= grid.extents[d]) {
    index[d] = first % grid.extents[d];
    at += grid.strides[d] * static_cast<std::ptrdiff_t>(index[d]);
  }
  while (act(at)) {
    std::size_t d = outer;
    while (d > 0) {
      --d;
      at += grid.strides[d];
      if (++index[d] < grid.extents[d]) break;
      at -= grid.strides[d] * static_cast<std::ptrdiff_t>(grid.extents[d]);
      index[d] = 0;
      if (d == 0) return;
    }
    if (outer == 0) return;
  }
}

/// Copies n elements of a fixed size, which a compiler turns into loads and stores.
template <std::size_t Unit>
void copy_elements(std::byte* to, std::ptrdiff_t to_step, const std::byte* from, std::ptrdiff_t from_step,
                   std::size_t n) {
  for (std::size_t i = 0; i < n; ++i, to += to_step, from += from_step) std::memcpy(to, from, Unit);
}

void copy_any(std::byte* to, std::ptrdiff_t to_step, const std::byte* from, std::ptrdiff_t from_step, std::size_t n,
              std::size_t unit) {
  for (std::size_t i = 0; i < n; ++i, to += to_step, from += from_step) copy(to, from, unit);
}

/// Copies n elements whose places are `to_step` and `from_step` bytes apart.
void copy_row(std::byte* to, std::ptrdiff_t to_step, const std::byte* from, std::ptrdiff_t from_step, std::size_t n,
              std::size_t unit) {
  const auto size = static_cast<std::ptrdiff_t>(unit);
  if (to_step == size && from_step == size) {
    copy(to, from, n * unit);
    return;
  }
  switch (unit) {
    case 1:
      return copy_elements<1>(to, to_step, from, from_step, n);
    case 2:
      return copy_elements<2>(to, to_step, from, from_step, n);
    case 4:
      return copy_elements<4>(to, to_step, from, from_step, n);
    case 8:
      return copy_elements<8>(to, to_step, from, from_step, n);
    case 12:
      return copy_elements<12>(to, to_step, from, from_step, n);
    case 16:
      return copy_elements<16>(to, to_step, from, from_step, n);
    case 24:
      return copy_elements<24>(to, to_step, from, from_step, n);
    case 32:
      return copy_elements<32>(to, to_step, from, from_step, n);
    case 64:
      return copy_elements<64>(to, to_step, from, from_step, n);
    default:
      return copy_any(to, to_step, from, from_step, n, unit);
  }
}

}  // namespace

void pack(const Grid& grid, std::size_t unit, const void* from, void* packed) {
  pack_part(grid, unit, from, 0, grid.elements, packed);
}

void pack_part(const Grid& grid, std::size_t unit, const void* from, std::size_t first, std::size_t count,
               void* packed) {
  if (count == 0) return;
  const auto size = static_cast<std::ptrdiff_t>(unit);
  const Row row = row_of(grid);
  const auto* base = static_cast<const std::byte*>(from);
  auto* to = static_cast<std::byte*>(packed);
  std::size_t skipped = first % row.elements;
  for_each_row(grid, first / row.elements, [&](std::ptrdiff_t at) {
    const std::size_t n = std::min(count, row.elements - skipped);
    const std::ptrdiff_t begin = at + row.stride * static_cast<std::ptrdiff_t>(skipped);
    copy_row(to, size, base + begin * size, row.stride * size, n, unit);
    to += n * unit;
    count -= n;
    skipped = 0;
    return count > 0;
  });
}

void unpack(const Grid& grid, std::size_t unit, const void* packed, std::size_t elements, void* to) {
  const auto size = static_cast<std::ptrdiff_t>(unit);
  const Row row = row_of(grid);
  const auto* from = static_cast<const std::byte*>(packed);
  auto* base = static_cast<std::byte*>(to);
  std::size_t left = std::min(elements, grid.elements);
  if (left == 0) return;
  for_each_row(grid, 0, [&](std::ptrdiff_t at) {
    const std::size_t n = std::min(left, row.elements);
    copy_row(base + at * size, row.stride * size, from, size, n, unit);
    from += n * unit;
    left -= n;
    return left > 0;
  });
}

}  // namespace tutti::kernels
