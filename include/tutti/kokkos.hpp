// SPDX-License-Identifier: BSD-3-Clause
// The one public header that needs Kokkos. CMake: find_package(tutti COMPONENTS kokkos), link tutti::kokkos.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <tutti/buffer.hpp>
#include <tutti/options.hpp>
#include <type_traits>
#include <utility>

namespace tutti {

template <>
struct DatatypeOf<Kokkos::complex<float>> {
  static constexpr Datatype value{DatatypeKind::complex64};
};
template <>
struct DatatypeOf<Kokkos::complex<double>> {
  static constexpr Datatype value{DatatypeKind::complex128};
};

namespace detail {

template <typename Space>
constexpr MemoryKind memory_kind_of() {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same_v<Space, Kokkos::CudaSpace>) return MemoryKind::device;
  if constexpr (std::is_same_v<Space, Kokkos::CudaUVMSpace>) return MemoryKind::managed;
  if constexpr (std::is_same_v<Space, Kokkos::CudaHostPinnedSpace>) return MemoryKind::pinned;
#endif
  return std::is_same_v<Space, Kokkos::HostSpace> ? MemoryKind::host : MemoryKind::detect;
}

/// The layout of a view, its dimensions in order of their strides.
template <typename View>
Layout layout_of(const View& view) {
  constexpr auto rank = static_cast<std::size_t>(View::rank);
  std::array<std::pair<std::ptrdiff_t, std::size_t>, rank> dimensions{};
  for (std::size_t d = 0; d < rank; ++d)
    dimensions[d] = {static_cast<std::ptrdiff_t>(view.stride(d)), static_cast<std::size_t>(view.extent(d))};
  std::stable_sort(dimensions.begin(), dimensions.end(), [](auto a, auto b) { return a.first > b.first; });
  std::array<std::size_t, rank> extents{};
  std::array<std::ptrdiff_t, rank> strides{};
  for (std::size_t d = 0; d < rank; ++d) std::tie(strides[d], extents[d]) = dimensions[d];
  return Layout::strided(extents, strides);
}

}  // namespace detail

/// Makes a buffer of a view of any rank, its elements in memory order: a Buffer, or a ConstBuffer if the elements are
/// const. A view that is not contiguous, such as a subview of columns or one of LayoutStride, gives a buffer with a
/// layout (Layout::strided), in order of its strides; point-to-point and the collectives that move equal blocks take it
/// in host memory. The memory kind follows from the view's space. Local. The view owns the memory and must outlive the
/// call (or its request).
template <typename View>
requires Kokkos::is_view<View>::value [[nodiscard]] auto as_buffer(const View& view) {
  using Value = typename View::value_type;
  using Result = std::conditional_t<std::is_const_v<Value>, ConstBuffer, Buffer>;
  constexpr Datatype type = datatype_of<std::remove_cv_t<Value>>();
  constexpr MemoryKind kind = detail::memory_kind_of<typename View::memory_space>();
  if (view.span_is_contiguous()) return Result(view.data(), view.size(), type, kind);
  return Result(view.data(), 1, type, detail::layout_of(view), kind);
}

/// The stream of an execution space, for Options::stream; no stream for a host space. Local. The space owns the stream.
template <typename Space>
[[nodiscard]] Stream stream_of([[maybe_unused]] const Space& space) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same_v<Space, Kokkos::Cuda>)
    return Stream(StreamKind::cuda, static_cast<void*>(space.cuda_stream()));
#endif
  return {};
}

}  // namespace tutti
