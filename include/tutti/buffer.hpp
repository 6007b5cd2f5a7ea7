// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>
#include <type_traits>

namespace tutti {

/// The kind of memory that holds a buffer. `detect` asks the CUDA runtime at each call, but only in a process that
/// already uses CUDA.
enum class MemoryKind : std::uint8_t { detect = 0, host = 1, pinned = 2, device = 3, managed = 4 };

/// The name of a kind in messages, tables and command lines: "device".
[[nodiscard]] TUTTI_EXPORT const char* memory_kind_name(MemoryKind kind) noexcept;

/// Returns the kind of memory that holds an address: host, unless this process uses CUDA. Local.
[[nodiscard]] TUTTI_EXPORT MemoryKind memory_kind(const void* address);

/// Passed in place of a buffer, makes a collective work in place. Counterpart: MPI_IN_PLACE.
struct InPlace {};
inline constexpr InPlace in_place{};

namespace detail {
template <typename R>
concept HostRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;
}  // namespace detail

/// A buffer that a call reads: address, number of elements, type. Owns nothing; the memory must stay valid and
/// unchanged until the call (or its request) has completed.
struct ConstBuffer {
  const void* data = nullptr;
  std::size_t count = 0;
  Datatype type{};
  MemoryKind memory = MemoryKind::detect;
  bool is_in_place = false;

  constexpr ConstBuffer() = default;
  ConstBuffer(const void* address, std::size_t n, Datatype datatype, MemoryKind kind = MemoryKind::detect)
      : data(address), count(n), type(datatype), memory(kind) {}
  template <typename T>
  requires(!std::is_void_v<T>) ConstBuffer(const T* address, std::size_t n)
      : data(address), count(n), type(datatype_of<std::remove_cv_t<T>>()) {}
  // NOLINTBEGIN(google-explicit-constructor): spans, vectors and arrays are buffers
  template <detail::HostRange R>
  ConstBuffer(const R& range)
      : ConstBuffer(std::ranges::data(range), static_cast<std::size_t>(std::ranges::size(range))) {}
  constexpr ConstBuffer(InPlace) : is_in_place(true) {}
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

  constexpr Buffer() = default;
  Buffer(void* address, std::size_t n, Datatype datatype, MemoryKind kind = MemoryKind::detect)
      : data(address), count(n), type(datatype), memory(kind) {}
  template <typename T>
  requires(!std::is_void_v<T> && !std::is_const_v<T>) Buffer(T* address, std::size_t n)
      : data(address), count(n), type(datatype_of<T>()) {}
  // NOLINTBEGIN(google-explicit-constructor): spans, vectors and arrays are buffers
  template <detail::HostRange R>
  requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>> &&
           !std::same_as<std::remove_cvref_t<R>, Buffer>)
      Buffer(R&& range)  // NOLINT(bugprone-forwarding-reference-overload)
      : Buffer(std::ranges::data(range), static_cast<std::size_t>(std::ranges::size(range))) {}
  constexpr Buffer(InPlace) : is_in_place(true) {}
  operator ConstBuffer() const {
    ConstBuffer b(data, count, type, memory);
    b.is_in_place = is_in_place;
    return b;
  }
  // NOLINTEND(google-explicit-constructor)
};

}  // namespace tutti
