// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/detail/temporaries.hpp>
#include <tutti/error.hpp>
#include <tutti/layout.hpp>
#include <type_traits>

namespace tutti {

/// The kind of memory that holds a buffer. `detect` asks the CUDA runtime at each call, but only in a process that
/// already uses CUDA.
enum class MemoryKind : std::uint8_t { detect = 0, host = 1, pinned = 2, device = 3, managed = 4 };

/// The name of a kind in messages, tables and command lines: "device".
[[nodiscard]] TUTTI_EXPORT const char* memory_kind_name(MemoryKind kind) noexcept;

/// Returns the kind of memory that holds an address: host, unless this process uses CUDA. Local.
[[nodiscard]] TUTTI_EXPORT MemoryKind memory_kind(const void* address);

/// Passed in place of a buffer, makes a collective work in place. Calls take MPI_IN_PLACE too. Counterpart:
/// MPI_IN_PLACE.
struct InPlace {};
inline constexpr InPlace in_place{};

namespace detail {

/// The scalars in an element: more than one if it is an array. Buffers of arrays are buffers of their scalars.
template <typename T>
struct Scalars {
  using Type = T;
  static constexpr std::size_t count = 1;
};
template <typename T, std::size_t N>
requires(!Element<std::array<T, N>>) struct Scalars<std::array<T, N>> {
  static_assert(sizeof(std::array<T, N>) == N * sizeof(T));
  using Type = typename Scalars<T>::Type;
  static constexpr std::size_t count = N * Scalars<T>::count;
};
template <typename T, std::size_t N>
struct Scalars<T[N]> {  // NOLINT(cppcoreguidelines-avoid-c-arrays): the caller's
  using Type = typename Scalars<T>::Type;
  static constexpr std::size_t count = N * Scalars<T>::count;
};

/// Scalars in n elements of type T; a negative or too large n becomes too large for any memory, which calls refuse.
template <typename T, std::integral N>
constexpr std::size_t scalars_in(N n) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  constexpr std::size_t each = Scalars<std::remove_cv_t<T>>::count;
  if constexpr (std::is_signed_v<N>)
    if (n < 0) return most;
  const auto elements = static_cast<std::size_t>(n);
  return each != 0 && elements > most / each ? most : elements * each;
}
template <typename T>
constexpr Datatype datatype_in() {
  return datatype_of<typename Scalars<std::remove_cv_t<T>>::Type>();
}

/// Returns true for MPI_IN_PLACE; throws for any other address.
TUTTI_EXPORT bool require_mpi_in_place(const void* address);

template <typename R>
using ElementIn = std::remove_reference_t<std::ranges::range_reference_t<R>>;
template <typename R>
inline constexpr bool is_buffer_range = std::ranges::contiguous_range<R>&& std::ranges::sized_range<R>;

template <typename R>
auto data_of(R& range) {
  static_assert(is_buffer_range<R>,
                "a buffer must be contiguous: pass an array, a std::vector (but not of bool, which has no addresses; "
                "use char), a std::span, or an address and a count");
  if constexpr (is_buffer_range<R>)
    return std::ranges::data(range);
  else
    return nullptr;
}
/// The address of a buffer that a call writes.
template <typename T>
void* writable(T address) {
  constexpr bool is_const = std::is_const_v<std::remove_pointer_t<T>>;
  static_assert(!is_const, "the call writes this buffer, but its elements are const; pass one that is not");
  if constexpr (is_const)
    return nullptr;
  else
    return address;
}
template <typename R>
std::size_t scalars_of(R& range) {
  if constexpr (is_buffer_range<R>)
    return scalars_in<ElementIn<R>>(static_cast<std::size_t>(std::ranges::size(range)));
  else
    return 0;
}
template <typename R>
constexpr Datatype datatype_of_range() {
  if constexpr (is_buffer_range<R>)
    return datatype_in<ElementIn<R>>();
  else
    return {};
}
/// The scalars of the first n elements of a range, all of which there must be.
template <typename R, std::integral N>
std::size_t first_scalars(R& range, N n) {
  const std::size_t wanted = scalars_in<ElementIn<R>>(n);
  if (wanted > scalars_of(range))
    throw Error(ErrorCode::invalid_argument,
                "Buffer: argument count is " + std::to_string(n) + ", but the range has only " +
                    std::to_string(std::ranges::size(range)) + " elements; pass at most these");
  return wanted;
}
template <typename R>
concept LongRange = std::ranges::range<R> && !std::is_array_v<std::remove_reference_t<R>>;

}  // namespace detail

/// A buffer that a call reads: address, number of elements, type, and a layout if the elements are not contiguous. Owns
/// nothing; the memory must stay valid and unchanged until the call (or its request) has completed. Point-to-point,
/// bcast, gather, scatter, allgather, alltoall and neighbor_alltoallw take buffers with layouts, in host memory: they
/// pack them into scratch memory of the same number of elements. Other calls refuse them.
struct ConstBuffer {
  const void* data = nullptr;
  std::size_t count = 0;
  Datatype type{};
  MemoryKind memory = MemoryKind::detect;
  bool is_in_place = false;
  std::shared_ptr<const detail::Grid> layout{};  ///< null: contiguous

  constexpr ConstBuffer() = default;
  /// `n` elements of a datatype.
  template <std::integral N>
  ConstBuffer(const void* address, N n, Datatype datatype, MemoryKind kind = MemoryKind::detect)
      : data(address), count(detail::scalars_in<char>(n)), type(datatype), memory(kind) {}
  /// `n` elements of the pointer's type. An array of 3 double, as an element, is 3 elements of float64.
  template <typename T, std::integral N>
  requires(!std::is_void_v<T>) ConstBuffer(const T* address, N n)
      : data(address), count(detail::scalars_in<T>(n)), type(detail::datatype_in<T>()) {}
  /// n repetitions of a layout, its extent apart.
  ConstBuffer(const void* address, std::size_t n, Datatype datatype, const Layout& places,
              MemoryKind kind = MemoryKind::detect)
      : data(address), count(n * places.elements()), type(datatype), memory(kind), layout(places.repeated(n)) {}
  template <typename T>
  requires(!std::is_void_v<T>) ConstBuffer(const T* address, std::size_t n, const Layout& places)
      : ConstBuffer(address, n, datatype_of<std::remove_cv_t<T>>(), places) {}
  template <typename T>
  requires(!std::is_void_v<T>) ConstBuffer(const T* address, const Layout& places) : ConstBuffer(address, 1, places) {}
  // NOLINTBEGIN(google-explicit-constructor): spans, vectors and arrays are buffers
  /// A contiguous range: array, vector, span.
  template <std::ranges::range R>
  ConstBuffer(const R& range)
      : data(detail::data_of(range)), count(detail::scalars_of(range)), type(detail::datatype_of_range<const R>()) {}
  /// The first `n` elements of a range that may be longer.
  template <detail::LongRange R, std::integral N>
  ConstBuffer(const R& range, N n)
      : data(detail::data_of(range)),
        count(detail::first_scalars(range, n)),
        type(detail::datatype_of_range<const R>()) {}
  constexpr ConstBuffer(InPlace) : is_in_place(true) {}
  /// MPI_IN_PLACE, which is a void*. Throws Error(invalid_argument) for any other address, which needs a count.
  template <std::same_as<void*> Address>
  ConstBuffer(Address mpi_in_place) : is_in_place(detail::require_mpi_in_place(mpi_in_place)) {}
  // NOLINTEND(google-explicit-constructor)
};

/// A buffer that a call writes. Owns nothing; the memory must stay valid and untouched until the call (or its request)
/// has completed.
struct Buffer {
  void* data = nullptr;
  std::size_t count = 0;
  Datatype type{};
  MemoryKind memory = MemoryKind::detect;
  bool is_in_place = false;
  std::shared_ptr<const detail::Grid> layout{};  ///< null: contiguous

  constexpr Buffer() = default;
  /// As those of ConstBuffer.
  template <std::integral N>
  Buffer(void* address, N n, Datatype datatype, MemoryKind kind = MemoryKind::detect)
      : data(address), count(detail::scalars_in<char>(n)), type(datatype), memory(kind) {}
  template <typename T, std::integral N>
  requires(!std::is_void_v<T> && !std::is_const_v<T>) Buffer(T* address, N n)
      : data(address), count(detail::scalars_in<T>(n)), type(detail::datatype_in<T>()) {}
  /// n repetitions of a layout, its extent apart.
  Buffer(void* address, std::size_t n, Datatype datatype, const Layout& places, MemoryKind kind = MemoryKind::detect)
      : data(address), count(n * places.elements()), type(datatype), memory(kind), layout(places.repeated(n)) {}
  template <typename T>
  requires(!std::is_void_v<T> && !std::is_const_v<T>) Buffer(T* address, std::size_t n, const Layout& places)
      : Buffer(address, n, datatype_of<T>(), places) {}
  template <typename T>
  requires(!std::is_void_v<T> && !std::is_const_v<T>) Buffer(T* address, const Layout& places)
      : Buffer(address, 1, places) {}
  // NOLINTBEGIN(google-explicit-constructor): spans, vectors and arrays are buffers
  template <std::ranges::range R>
  requires(!std::same_as<std::remove_cvref_t<R>, Buffer>)
      Buffer(R&& range)  // NOLINT(bugprone-forwarding-reference-overload)
      : data(detail::writable(detail::data_of(range))),
        count(detail::scalars_of(range)),
        type(detail::datatype_of_range<std::remove_reference_t<R>>()) {}
  /// The first `n` elements of a range that may be longer.
  template <detail::LongRange R, std::integral N>
  Buffer(R&& range, N n)
      : data(detail::writable(detail::data_of(range))),
        count(detail::first_scalars(range, n)),
        type(detail::datatype_of_range<std::remove_reference_t<R>>()) {}
  constexpr Buffer(InPlace) : is_in_place(true) {}
  template <std::same_as<void*> Address>
  Buffer(Address mpi_in_place) : is_in_place(detail::require_mpi_in_place(mpi_in_place)) {}
  operator ConstBuffer() const {
    ConstBuffer b(data, count, type, memory);
    b.is_in_place = is_in_place;
    b.layout = layout;
    return b;
  }
  // NOLINTEND(google-explicit-constructor)
};

}  // namespace tutti
