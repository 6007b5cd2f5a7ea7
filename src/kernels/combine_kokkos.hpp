// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tutti/error.hpp>
#include <tutti/reduce_op.hpp>

#include "kernels/combine_dispatch.hpp"

/// The combination of combine.hpp in any execution space of Kokkos, with the same functors and so the same bits.
namespace tutti::kernels {

inline constexpr std::size_t max_kokkos_inputs = 8;

/// The body of the parallel loop; the pointers travel by value.
template <typename Functor>
struct CombineBody {
  using Value = typename Functor::Value;
  Functor functor;
  const Value* inputs[max_kokkos_inputs];
  std::size_t input_count;
  Value* output;

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    auto acc = functor.load(inputs[0][i]);
    for (std::size_t k = 1; k < input_count; ++k) acc = functor.join(acc, functor.load(inputs[k][i]));
    store(functor, output + i, acc);
  }
};

template <typename ExecutionSpace, typename Functor>
void launch_combine(const ExecutionSpace& space, const Functor& functor, std::span<const void* const> inputs,
                    void* output, std::size_t count) {
  CombineBody<Functor> body{functor, {}, inputs.size(), static_cast<typename Functor::Value*>(output)};
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    body.inputs[k] = static_cast<const typename Functor::Value*>(inputs[k]);
  }
  Kokkos::parallel_for("tutti::combine", Kokkos::RangePolicy<ExecutionSpace, std::size_t>(space, 0, count), body);
}

template <typename Visit>
bool visit_functor(DatatypeKind type, ReduceKind op, const Visit& visit) {
  switch (type) {
    case DatatypeKind::int8:
    case DatatypeKind::uint8:
    case DatatypeKind::logical8:
      return visit_integer<std::int8_t>(op, type == DatatypeKind::int8, visit);
    case DatatypeKind::int16:
    case DatatypeKind::uint16:
    case DatatypeKind::logical16:
      return visit_integer<std::int16_t>(op, type == DatatypeKind::int16, visit);
    case DatatypeKind::int32:
    case DatatypeKind::uint32:
    case DatatypeKind::logical32:
      return visit_integer<std::int32_t>(op, type == DatatypeKind::int32, visit);
    case DatatypeKind::int64:
    case DatatypeKind::uint64:
    case DatatypeKind::logical64:
      return visit_integer<std::int64_t>(op, type == DatatypeKind::int64, visit);
    case DatatypeKind::float8_e4m3:
      return visit_float<float8_e4m3_t>(op, visit);
    case DatatypeKind::float8_e5m2:
      return visit_float<float8_e5m2_t>(op, visit);
    case DatatypeKind::float16:
      return visit_float<float16_t>(op, visit);
    case DatatypeKind::bfloat16:
      return visit_float<bfloat16_t>(op, visit);
    case DatatypeKind::float32:
      return visit_float<float>(op, visit);
    case DatatypeKind::float64:
      return visit_float<double>(op, visit);
    case DatatypeKind::float32_int32:
      return visit_pair<float, std::int32_t>(op, visit);
    case DatatypeKind::float64_int32:
      return visit_pair<double, std::int32_t>(op, visit);
    case DatatypeKind::int32_int32:
      return visit_pair<std::int32_t, std::int32_t>(op, visit);
    case DatatypeKind::int64_int32:
      return visit_pair<std::int64_t, std::int32_t>(op, visit);
    case DatatypeKind::int64_int64:
      return visit_pair<std::int64_t, std::int64_t>(op, visit);
    case DatatypeKind::float64_int64:
      return visit_pair<double, std::int64_t>(op, visit);
    case DatatypeKind::float32_float32:
      return visit_pair<float, float>(op, visit);
    case DatatypeKind::float64_float64:
      return visit_pair<double, double>(op, visit);
    default:
      return false;
  }
}

/// combine() on data that `space` can reach; asynchronous where the space is. At most max_kokkos_inputs inputs; user
/// operations run on the host only.
template <typename ExecutionSpace>
void combine_in_space(const ExecutionSpace& space, Datatype type, const ReduceOp& op,
                      std::span<const void* const> inputs, void* output, std::size_t count) {
  if (inputs.empty() || inputs.size() > max_kokkos_inputs) {
    throw Error(ErrorCode::invalid_argument, "combine_in_space: inputs must have 1 to 8 entries");
  }
  const auto run = [&](const auto& functor) { launch_combine(space, functor, inputs, output, count); };
  const bool complex = type.kind() == DatatypeKind::complex64 || type.kind() == DatatypeKind::complex128;
  if (complex && op.kind() == ReduceKind::prod) {
    if (type.kind() == DatatypeKind::complex64) return run(ComplexProdFunctor<float>{});
    return run(ComplexProdFunctor<double>{});
  }
  if (complex && is_defined(op.kind(), type.kind())) {
    const Datatype part = type.kind() == DatatypeKind::complex64 ? DatatypeKind::float32 : DatatypeKind::float64;
    return combine_in_space(space, part, ReduceOp(ReduceKind::sum), inputs, output, 2 * count);
  }
  const bool logical_only = type.kind() >= DatatypeKind::logical8 && type.kind() <= DatatypeKind::logical64;
  if ((logical_only && !is_defined(op.kind(), type.kind())) || !visit_functor(type.kind(), op.kind(), run)) {
    throw Error(ErrorCode::invalid_op, std::string("operation ") + reduce_op_name(op.kind()) +
                                           " is not defined for datatype " + datatype_name(type.kind()) +
                                           " in an execution space");
  }
}

}  // namespace tutti::kernels
