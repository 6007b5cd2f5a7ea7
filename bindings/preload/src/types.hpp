// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tutti/datatype.hpp>

#include "grids.hpp"

namespace tutti::preload {

/// The families of predefined types by the operations that MPI allows on them (MPI 4.0, section 6.9.2).
enum class Family : std::uint8_t { none, integer, real, complex, logical, byte, pair };

/// The facts of an MPI datatype.
struct Type {
  std::size_t size = 0;  ///< of an element's data, in bytes
  std::ptrdiff_t extent = 0;
  bool is_dense = false;  ///< the data of repetitions follow one another in memory, in their order
  bool is_solid = false;  ///< the bytes of repetitions are all data, in some order
  bool is_derived = false;
  Family family = Family::none;
  std::optional<Datatype> element{};  ///< Tutti's counterpart for reductions
  std::optional<TypeGrid> grid{};     ///< where the data have such an order
};

/// Null for MPI_DATATYPE_NULL and for handles that MPI refuses. Valid as long as the handle is.
[[nodiscard]] const Type* type_of(MPI_Datatype handle);

/// As above, for a block of a number of elements. Beside no elements any handle may stand, as MPI_DATATYPE_NULL does in
/// programs that have blocks for all ranks but data for some: nobody looks at it.
[[nodiscard]] const Type* type_beside(MPI_Datatype handle, MPI_Count count);

}  // namespace tutti::preload
