// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

namespace tutti::preload {

/// The sequence of basic types that some elements consist of, as a number. Equal for datatypes that describe the same
/// data in different ways, which MPI lets ranks do (MPI 4.1, section 5.1.11).
struct Signature {
  std::uint64_t hash = 0;
  std::uint64_t items = 0;  ///< basic elements
  std::uint64_t bytes = 0;
  bool is_known = true;  ///< false: of an unusual constructor; only bytes are compared

  [[nodiscard]] bool agrees(const Signature& other) const {
    return bytes == other.bytes && (!is_known || !other.is_known || hash == other.hash);
  }
};

[[nodiscard]] Signature joined(const Signature& first, const Signature& second);
[[nodiscard]] Signature repeated(Signature part, std::uint64_t times);

/// The signature of `count` elements of a type of MPI. Local.
[[nodiscard]] Signature signature_of(MPI_Datatype type, std::uint64_t count);

}  // namespace tutti::preload
