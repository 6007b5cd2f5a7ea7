// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tutti/detail/export.hpp>

namespace tutti {

/// The order of the elements of an array: `c` has the last index fastest, `fortran` the first.
enum class ArrayOrder : std::uint8_t { c = 0, fortran = 1 };

namespace detail {

/// A grid of elements in memory; the last dimension is the fastest. Neighbouring dimensions that continue each other
/// are one, and no dimension has one element.
struct Grid {
  static constexpr std::size_t most_dimensions = 16;
  std::ptrdiff_t offset = 0;  ///< of the first element from the buffer's address, in elements
  std::size_t elements = 1;
  std::size_t dimensions = 0;
  std::array<std::size_t, most_dimensions> extents{};
  std::array<std::ptrdiff_t, most_dimensions> strides{};  ///< in elements
};

}  // namespace detail

/// The places of the elements of a buffer that is not contiguous, relative to the buffer's address. A buffer with a
/// layout stands for the sequence of these elements: calls send and receive them as if they were contiguous, so that
/// the other side may have another layout or none. A small value whose copies share one description. Local.
/// Errors of the functions that make one: invalid_argument. Counterpart: a derived MPI_Datatype.
class TUTTI_EXPORT Layout {
 public:
  /// `count` blocks of `block_length` elements, whose first elements are `stride` elements apart. A negative stride
  /// goes backwards. Counterpart: MPI_Type_vector.
  [[nodiscard]] static Layout vector(std::size_t count, std::size_t block_length, std::ptrdiff_t stride);

  /// The part of an array that has `subsizes` elements and begins at index `starts`, one number per dimension of the
  /// array. The buffer's address is the array's; indices start at 0. The extent is the whole array's. At most 15
  /// dimensions. Counterpart: MPI_Type_create_subarray.
  [[nodiscard]] static Layout subarray(std::span<const std::size_t> sizes, std::span<const std::size_t> subsizes,
                                       std::span<const std::size_t> starts, ArrayOrder order = ArrayOrder::c);

  /// Elements with index (i, j, ..., k), 0 <= i < extents[0] and so on, at i * strides[0] + ... + k * strides.back(),
  /// in elements; the last index is the fastest. At most 15 dimensions. Counterpart: Kokkos::LayoutStride.
  [[nodiscard]] static Layout strided(std::span<const std::size_t> extents, std::span<const std::ptrdiff_t> strides);

  /// The same elements with another extent, in elements: the distance of a buffer's repetitions of the layout. A column
  /// with extent 1 is followed by the next column. Counterpart: MPI_Type_create_resized.
  [[nodiscard]] Layout resized(std::ptrdiff_t extent) const;

  /// Number of elements of one repetition.
  [[nodiscard]] std::size_t elements() const noexcept;
  /// The distance of repetitions, in elements. Counterpart: MPI_Type_get_extent.
  [[nodiscard]] std::ptrdiff_t extent() const noexcept { return extent_; }

  /// The grid of `count` repetitions; null if its elements are contiguous and start at the buffer's address.
  [[nodiscard]] std::shared_ptr<const detail::Grid> repeated(std::size_t count) const;

 private:
  Layout(const detail::Grid& grid, std::ptrdiff_t extent);
  std::shared_ptr<const detail::Grid> grid_;  ///< null: contiguous
  std::size_t elements_ = 1;
  std::ptrdiff_t extent_ = 1;
};

}  // namespace tutti
