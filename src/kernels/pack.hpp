// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/layout.hpp>

namespace tutti::kernels {

/// Copies the elements of a grid, of `unit` bytes each, to contiguous memory, in the grid's order. Host memory.
void pack(const detail::Grid& grid, std::size_t unit, const void* from, void* packed);

/// The same for the elements [first, first + count) of the grid alone.
void pack_part(const detail::Grid& grid, std::size_t unit, const void* from, std::size_t first, std::size_t count,
               void* packed);

/// Copies the first `elements` elements of contiguous memory to those of a grid.
void unpack(const detail::Grid& grid, std::size_t unit, const void* packed, std::size_t elements, void* to);

}  // namespace tutti::kernels
