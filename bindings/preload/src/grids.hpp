// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <tutti/layout.hpp>

namespace tutti::preload {

/// The room of an element of a datatype, in bytes.
struct Places {
  MPI_Count size = 0;
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Count true_lower = 0;
  MPI_Count true_extent = 0;

  /// The bytes of repetitions are all data, in some order.
  [[nodiscard]] bool is_solid() const { return lower == 0 && true_lower == 0 && extent == size && true_extent == size; }
};

/// Nothing for a handle that MPI refuses.
[[nodiscard]] std::optional<Places> places_of(MPI_Datatype type);

/// The data of a datatype as units of bytes in a grid, as those of vectors, subarrays and their repetitions are. The
/// library copies these in loops, where MPIs interpret the datatype.
struct TypeGrid {
  std::ptrdiff_t offset = 0;  ///< of the first unit from the element's address, in bytes
  std::size_t unit = 1;       ///< in bytes
  Layout layout;              ///< of one element, whose extent is the datatype's

  [[nodiscard]] bool is_contiguous() const { return offset == 0 && layout.repeated(1) == nullptr; }
};

/// Nothing for a datatype without data and for one whose data have another order: indexed ones, and most structures.
[[nodiscard]] std::optional<TypeGrid> grid_of(MPI_Datatype type, const Places& places);

}  // namespace tutti::preload
