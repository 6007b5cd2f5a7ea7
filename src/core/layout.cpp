// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <tutti/error.hpp>
#include <tutti/layout.hpp>

#include "core/mpi_call.hpp"

namespace tutti {
namespace {

using detail::Grid;

constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max();
constexpr std::size_t most_given = Grid::most_dimensions - 1;  // one is left for repetitions

[[noreturn]] void refuse_layout(std::string_view call, std::string_view problem) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}Layout::{}: argument {}", detail::error_prefix(), call, problem));
}

std::size_t product(std::string_view call, std::size_t a, std::size_t b) {
  if (b != 0 && a > most / b) refuse_layout(call, "describes more elements than an address space holds");
  return a * b;
}

/// Adds a dimension that is faster than all others, or makes the fastest one longer if it continues it.
void add_dimension(Grid& grid, std::size_t extent, std::ptrdiff_t stride) {
  if (extent == 1) return;
  if (grid.dimensions > 0) {
    std::size_t& slower = grid.extents[grid.dimensions - 1];
    std::ptrdiff_t& step = grid.strides[grid.dimensions - 1];
    if (step == stride * static_cast<std::ptrdiff_t>(extent)) {
      slower *= extent;
      step = stride;
      return;
    }
  }
  grid.extents[grid.dimensions] = extent;
  grid.strides[grid.dimensions] = stride;
  ++grid.dimensions;
}

bool is_contiguous(const Grid& grid) {
  if (grid.elements == 0) return true;
  return grid.offset == 0 && (grid.dimensions == 0 || (grid.dimensions == 1 && grid.strides[0] == 1));
}

std::shared_ptr<const Grid> kept(const Grid& grid) {
  return is_contiguous(grid) ? nullptr : std::make_shared<const Grid>(grid);
}

void check_dimensions(std::string_view call, std::size_t dimensions) {
  if (dimensions > most_given)
    refuse_layout(call, fmt::format("has {} dimensions; pass at most {}", dimensions, most_given));
}

/// The distance from an array's first element to behind its last, and how far it reaches before the address.
std::ptrdiff_t reach(std::string_view call, std::span<const std::size_t> extents,
                     std::span<const std::ptrdiff_t> strides) {
  std::size_t after = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 0) return 0;
    const std::size_t step = static_cast<std::size_t>(strides[d] < 0 ? -(strides[d] + 1) : strides[d]) +
                             static_cast<std::size_t>(strides[d] < 0);
    const std::size_t distance = product(call, extents[d] - 1, step);
    if (distance > most - after) refuse_layout(call, "describes elements beyond an address space");
    after += distance;
  }
  return static_cast<std::ptrdiff_t>(after);
}

}  // namespace

Layout::Layout(const Grid& grid, std::ptrdiff_t extent)
    : grid_(kept(grid)), elements_(grid.elements), extent_(extent) {}

Layout Layout::strided(std::span<const std::size_t> extents, std::span<const std::ptrdiff_t> strides) {
  if (extents.size() != strides.size())
    refuse_layout("strided", fmt::format("strides has {} numbers, and extents {}; pass one for each dimension",
                                         strides.size(), extents.size()));
  check_dimensions("strided", extents.size());
  const std::ptrdiff_t extent = reach("strided", extents, strides);
  Grid grid;
  for (const std::size_t n : extents) grid.elements = product("strided", grid.elements, n);
  for (std::size_t d = 0; d < extents.size(); ++d) add_dimension(grid, extents[d], strides[d]);
  return {grid, extent};
}

Layout Layout::vector(std::size_t count, std::size_t block_length, std::ptrdiff_t stride) {
  const std::size_t extents[] = {count, block_length};
  const std::ptrdiff_t strides[] = {stride, 1};
  return strided(extents, strides);
}

Layout Layout::subarray(std::span<const std::size_t> sizes, std::span<const std::size_t> subsizes,
                        std::span<const std::size_t> starts, ArrayOrder order) {
  const std::size_t n = sizes.size();
  check_dimensions("subarray", n);
  if (subsizes.size() != n || starts.size() != n)
    refuse_layout("subarray",
                  fmt::format("sizes has {} numbers, subsizes {} and starts {}; pass one for each dimension", n,
                              subsizes.size(), starts.size()));
  Grid grid;
  std::array<std::ptrdiff_t, most_given> strides{};
  std::size_t whole = 1;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t d = order == ArrayOrder::c ? n - 1 - k : k;  // fastest first
    if (starts[d] > sizes[d] || subsizes[d] > sizes[d] - starts[d])
      refuse_layout("subarray", fmt::format("starts[{}] is {} and subsizes[{}] is {}, beyond sizes[{}], which is {}", d,
                                            starts[d], d, subsizes[d], d, sizes[d]));
    strides[d] = static_cast<std::ptrdiff_t>(whole);
    grid.offset += static_cast<std::ptrdiff_t>(starts[d] * whole);
    grid.elements *= subsizes[d];
    whole = product("subarray", whole, sizes[d]);
  }
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t d = order == ArrayOrder::c ? k : n - 1 - k;  // slowest first
    add_dimension(grid, subsizes[d], strides[d]);
  }
  return {grid, static_cast<std::ptrdiff_t>(whole)};
}

Layout Layout::resized(std::ptrdiff_t extent) const {
  Layout other = *this;
  other.extent_ = extent;
  return other;
}

std::size_t Layout::elements() const noexcept { return elements_; }

std::shared_ptr<const Grid> Layout::repeated(std::size_t count) const {
  if (count == 1) return grid_;
  Grid grid;
  grid.elements = product("repeated", elements_, count);
  if (grid_) grid.offset = grid_->offset;
  add_dimension(grid, count, extent_);
  if (grid_) {
    for (std::size_t d = 0; d < grid_->dimensions; ++d) add_dimension(grid, grid_->extents[d], grid_->strides[d]);
  } else {
    add_dimension(grid, elements_, 1);
  }
  return kept(grid);
}

}  // namespace tutti
