// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include "kernels/device/combine.hpp"
#include "kernels/device/combine_launch.hpp"

namespace tutti::kernels::device {

namespace {

[[noreturn]] void throw_undefined(const char* what, DatatypeKind type) {
  throw Error(ErrorCode::invalid_op, std::string(what) + " is not defined for datatype " + datatype_name(type));
}

/// Calls visit(F*, values an element); false where the type is not one of floating-point numbers.
template <typename Visit>
bool visit_floating(DatatypeKind type, const Visit& visit) {
  switch (type) {
    case DatatypeKind::float8_e4m3:
      return visit(static_cast<float8_e4m3_t*>(nullptr), 1), true;
    case DatatypeKind::float8_e5m2:
      return visit(static_cast<float8_e5m2_t*>(nullptr), 1), true;
    case DatatypeKind::float16:
      return visit(static_cast<float16_t*>(nullptr), 1), true;
    case DatatypeKind::bfloat16:
      return visit(static_cast<bfloat16_t*>(nullptr), 1), true;
    case DatatypeKind::float32:
      return visit(static_cast<float*>(nullptr), 1), true;
    case DatatypeKind::float64:
      return visit(static_cast<double*>(nullptr), 1), true;
    case DatatypeKind::complex64:
      return visit(static_cast<float*>(nullptr), 2), true;
    case DatatypeKind::complex128:
      return visit(static_cast<double*>(nullptr), 2), true;
    default:
      return false;
  }
}

template <typename Visit>
bool visit_number(DatatypeKind type, const Visit& visit) {
  switch (type) {
    case DatatypeKind::int8:
      return visit(static_cast<std::int8_t*>(nullptr), 1), true;
    case DatatypeKind::int16:
      return visit(static_cast<std::int16_t*>(nullptr), 1), true;
    case DatatypeKind::int32:
      return visit(static_cast<std::int32_t*>(nullptr), 1), true;
    case DatatypeKind::int64:
      return visit(static_cast<std::int64_t*>(nullptr), 1), true;
    case DatatypeKind::uint8:
      return visit(static_cast<std::uint8_t*>(nullptr), 1), true;
    case DatatypeKind::uint16:
      return visit(static_cast<std::uint16_t*>(nullptr), 1), true;
    case DatatypeKind::uint32:
      return visit(static_cast<std::uint32_t*>(nullptr), 1), true;
    case DatatypeKind::uint64:
      return visit(static_cast<std::uint64_t*>(nullptr), 1), true;
    default:
      return visit_floating(type, visit);
  }
}

}  // namespace

void combine_avg(Datatype type, std::span<const void* const> inputs, void* output, std::size_t count,
                 std::size_t divisor, StreamHandle stream) {
  if (divisor == 0) throw Error(ErrorCode::invalid_argument, "combine_avg: divisor is 0; it must be positive");
  const bool done = visit_number(type.kind(), [&]<typename T>(T*, std::size_t values) {
    AverageFunctor<T> functor;
    functor.divisor = divisor;
    launch_combine(stream, functor, inputs, output, values * count);
  });
  if (!done) throw_undefined("avg", type.kind());
}

void scale_copy(Datatype type, const void* input, void* output, std::size_t count, double factor, StreamHandle stream) {
  const bool done = visit_floating(type.kind(), [&]<typename T>(T*, std::size_t values) {
    const ScaleFunctor<T> functor{static_cast<Accumulator<T>>(factor)};
    launch_combine(stream, functor, {&input, 1}, output, values * count);
  });
  if (!done) throw_undefined("scaling", type.kind());
}

}  // namespace tutti::kernels::device
