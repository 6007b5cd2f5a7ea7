// SPDX-License-Identifier: BSD-3-Clause
// The one public header that needs Kokkos. CMake: find_package(tutti COMPONENTS kokkos), link tutti::kokkos.
#pragma once

#include <tutti/parts.h>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <tutti/buffer.hpp>
#include <tutti/error.hpp>
#include <tutti/kernels/combine.hpp>
#include <tutti/kernels/device.hpp>
#include <tutti/options.hpp>
#include <type_traits>
#include <utility>

#if TUTTI_HAS_TRAINING
#include <tutti/kernels/norms.hpp>
#include <tutti/kernels/segmented_sum.hpp>
#endif

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
#elif defined(KOKKOS_ENABLE_HIP)
  if constexpr (std::is_same_v<Space, Kokkos::HIPSpace>) return MemoryKind::device;
  if constexpr (std::is_same_v<Space, Kokkos::HIPManagedSpace>) return MemoryKind::managed;
  if constexpr (std::is_same_v<Space, Kokkos::HIPHostPinnedSpace>) return MemoryKind::pinned;
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
#elif defined(KOKKOS_ENABLE_HIP)
  if constexpr (std::is_same_v<Space, Kokkos::HIP>)
    return Stream(StreamKind::cuda, static_cast<void*>(space.hip_stream()));
#endif
  return {};
}

namespace detail {

template <typename Space>
inline constexpr bool is_host_space_of_views = Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;

template <typename View>
void require_contiguous_view(const char* function, const View& view) {
  if (!view.span_is_contiguous())
    throw Error(ErrorCode::invalid_argument, std::string(function) + ": view '" + view.label() +
                                                 "' is not contiguous; copy it by Kokkos::deep_copy");
}

template <typename View>
constexpr DatatypeKind view_kind() {
  return datatype_of<std::remove_cv_t<typename View::value_type>>().kind();
}

}  // namespace detail

/// Kernels on views, in the order of an instance of an execution space: on the device for a space of a device, and on
/// the host, when they return, for others. The views are contiguous, accessible to the space, and must outlive the
/// work. Local. Error(invalid_argument) where shapes do not fit, and the errors of the function of the same name.
namespace kernels {

/// output = op of all inputs, element by element: views of one size and one type. The output may be an input.
/// Counterpart: MPI_Reduce_local.
template <typename Space, typename Output, typename... Inputs>
requires Kokkos::is_view<Output>::value void combine(const Space& space, const ReduceOp& op, const Output& output,
                                                     const Inputs&... inputs) {
  static_assert(
      sizeof...(Inputs) > 0 && ((tutti::detail::view_kind<Inputs>() == tutti::detail::view_kind<Output>()) && ...),
      "combine: at least one input, and all of the type of the output");
  tutti::detail::require_contiguous_view("combine", output);
  (tutti::detail::require_contiguous_view("combine", inputs), ...);
  if (((inputs.size() != output.size()) || ...))
    throw Error(ErrorCode::invalid_argument, "combine: an input has another size than the output");
  const std::array<const void*, sizeof...(Inputs)> addresses{inputs.data()...};
  if constexpr (tutti::detail::is_host_space_of_views<Space>)
    combine(tutti::detail::view_kind<Output>(), op, addresses, output.data(), output.size());
  else
    device::combine(tutti::detail::view_kind<Output>(), op, addresses, output.data(), output.size(), stream_of(space));
}

#if TUTTI_HAS_TRAINING
/// output(s, :) = the sum of values(i, :) for offsets(s) <= i < offsets(s + 1). Views of rank 2 in LayoutRight, and of
/// std::int64_t; on the host, offsets are those of a host view.
template <typename Space, typename Values, typename Offsets, typename Output>
requires(Kokkos::is_view<Values>::value&& Kokkos::is_view<Output>::value) void segmented_sum(const Space& space,
                                                                                             const Values& values,
                                                                                             const Offsets& offsets,
                                                                                             const Output& output) {
  static_assert(Values::rank == 2 && Output::rank == 2 &&
                    tutti::detail::view_kind<Values>() == tutti::detail::view_kind<Output>(),
                "segmented_sum: values and output are views of rank 2 and of one type");
  tutti::detail::require_contiguous_view("segmented_sum", values);
  tutti::detail::require_contiguous_view("segmented_sum", output);
  if (values.extent(1) != output.extent(1) || offsets.extent(0) != output.extent(0) + 1)
    throw Error(ErrorCode::invalid_argument,
                "segmented_sum: the output has other columns than the values, or offsets "
                "has not one entry more than the output has rows");
  if constexpr (tutti::detail::is_host_space_of_views<Space>)
    segmented_sum(tutti::detail::view_kind<Values>(), values.data(), values.extent(1),
                  {offsets.data(), offsets.extent(0)}, output.data());
  else
    device::segmented_sum(tutti::detail::view_kind<Values>(), values.data(), values.extent(1), offsets.data(),
                          output.extent(0), output.data(), stream_of(space));
}

/// result() = norm_part of a view, whose root, for l2, is the norm: so that the parts of ranks can be added. The
/// workspace serves one call at a time.
template <typename Space, typename Values, typename Result>
requires Kokkos::is_view<Values>::value void norm_part(const Space& space, Norm norm, const Values& values,
                                                       const Result& result, device::Workspace& workspace) {
  tutti::detail::require_contiguous_view("norm_part", values);
  if constexpr (tutti::detail::is_host_space_of_views<Space>)
    result() = norm_part(norm, tutti::detail::view_kind<Values>(), values.data(), values.size());
  else
    device::norm_part(norm, tutti::detail::view_kind<Values>(), values.data(), values.size(), result.data(), workspace,
                      stream_of(space));
}

#endif

}  // namespace kernels

}  // namespace tutti
