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

/// Where a buffer lives. `detect` asks the CUDA runtime at each call, and only when this process already uses CUDA.
enum class MemoryKind : std::uint8_t { detect = 0, host = 1, pinned = 2, device = 3, managed = 4 };

[[nodiscard]] TUTTI_EXPORT const char* memory_kind_name(MemoryKind kind) noexcept;

/// What kind of memory an address is in. Local. Without CUDA in this process the answer is host.
[[nodiscard]] TUTTI_EXPORT MemoryKind memory_kind(const void* address);

/// Passed as one buffer of a collective: the call works in place, in the sense of MPI_IN_PLACE.
struct InPlace {};
inline constexpr InPlace in_place{};

namespace detail {
template <typename R>
concept HostRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;
}  // namespace detail

/// A buffer that a call reads: address, number of elements, type. It owns nothing; the memory must stay valid, and
/// unchanged, until the call (or its request) has completed.
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

/// A buffer that a call writes. Ownership and lifetime as for ConstBuffer.
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
