// SPDX-License-Identifier: BSD-3-Clause
// Random datatypes: places in memory of a number of elements of another type, by every constructor of MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "fuzz/random.hpp"

namespace tutti::fuzz::mpi {

/// A datatype of this process, freed with it unless the MPI has it from the start.
class Type {
 public:
  Type() = default;
  Type(MPI_Datatype handle, bool is_own) : handle_(handle), is_own_(is_own) {}
  ~Type();
  Type(Type&& other) noexcept { swap(other); }
  Type& operator=(Type&& other) noexcept {
    swap(other);
    return *this;
  }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;

  [[nodiscard]] MPI_Datatype get() const { return handle_; }
  /// Another handle of the same type, with its attributes.
  [[nodiscard]] Type copy() const;

 private:
  void swap(Type& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(is_own_, other.is_own_);
  }
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
  bool is_own_ = false;
};

/// What a datatype says of itself, in bytes.
struct Facts {
  explicit Facts(MPI_Datatype type);
  MPI_Aint size = 0, lower = 0, extent = 0, true_lower = 0, true_extent = 0;
};

/// Bytes that data may touch, relative to an address.
struct Span {
  std::ptrdiff_t low = 0, high = 0;
  bool is_empty = true;
  /// Adds so many items of a type, the first one that many bytes behind the address.
  void add(std::ptrdiff_t place, std::ptrdiff_t count, const Facts& facts);
};

/// What calls that move data move: types of the MPI, and a record of several. Neither pairs nor long double, whose
/// padding an MPI need not copy.
struct Element {
  const char* name;
  MPI_Datatype type;
};
[[nodiscard]] const std::vector<Element>& elements();

/// A committed type that holds so many elements, whose items do not overlap however many of them follow one another.
[[nodiscard]] Type draw_type(Random& random, MPI_Datatype element, int number);

/// A committed type without data.
[[nodiscard]] Type empty_type();

/// The same type at a fixed address, for MPI_BOTTOM.
[[nodiscard]] Type at_address(MPI_Datatype type, const void* address);

/// Commits a new datatype.
[[nodiscard]] Type committed(MPI_Datatype handle);

/// Writes bytes, as many as the items hold, into the data of items of a type.
void place_data(const std::vector<std::byte>& data, std::byte* to, MPI_Aint count, MPI_Datatype type);

}  // namespace tutti::fuzz::mpi
