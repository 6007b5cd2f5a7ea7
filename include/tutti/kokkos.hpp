// SPDX-License-Identifier: BSD-3-Clause
// The one public header that needs Kokkos. CMake: find_package(tutti COMPONENTS kokkos), link tutti::kokkos.
#pragma once

#include <Kokkos_Core.hpp>
#include <string>
#include <tutti/buffer.hpp>
#include <tutti/error.hpp>
#include <tutti/options.hpp>
#include <type_traits>

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

}  // namespace detail

/// Makes a buffer of a view of any rank, its elements in memory order: a Buffer, or a ConstBuffer if the elements are
/// const. The memory kind follows from the view's space. Local. The view owns the memory and must outlive the call (or
/// its request). Errors: invalid_argument if the elements are not contiguous, as in a subview of columns; copy such a
/// view first.
template <typename View>
requires Kokkos::is_view<View>::value [[nodiscard]] auto as_buffer(const View& view) {
  using Value = typename View::value_type;
  using Result = std::conditional_t<std::is_const_v<Value>, ConstBuffer, Buffer>;
  if (!view.span_is_contiguous())
    throw Error(ErrorCode::invalid_argument,
                "as_buffer: view '" + view.label() + "' is not contiguous; copy it into one that is");
  return Result(view.data(), view.size(), datatype_of<std::remove_cv_t<Value>>(),
                detail::memory_kind_of<typename View::memory_space>());
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
