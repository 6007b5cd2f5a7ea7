// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <tutti/error.hpp>

#include "kernels/combine.hpp"
#include "kernels/combine_host.hpp"

namespace tutti::kernels {

namespace {

[[noreturn]] void throw_undefined(const char* what, DatatypeKind type) {
  throw Error(ErrorCode::invalid_op, std::string(what) + " is not defined for datatype " + datatype_name(type));
}

template <typename T>
void average(Inputs inputs, void* output, std::size_t count, std::size_t divisor) {
  AverageFunctor<T> functor;
  functor.divisor = divisor;
  combine_on_host(functor, inputs, output, count);
}

template <typename T>
void average_narrow(Inputs inputs, void* output, std::size_t count, std::size_t divisor) {
  AverageFunctor<float> functor;
  functor.divisor = divisor;
  combine_narrow_on_host<T>(functor, inputs, output, count);
}

template <typename T>
void scale_values(const void* input, void* output, std::size_t count, double factor) {
  if constexpr (is_small_float<T>) {
    combine_narrow_on_host<T>(ScaleFunctor<float>{static_cast<float>(factor)}, Inputs(&input, 1), output, count);
  } else {
    combine_fixed<1>(ScaleFunctor<T>{static_cast<T>(factor)}, Inputs(&input, 1), static_cast<T*>(output), count);
  }
}

}  // namespace

void combine_avg(Datatype type, std::span<const void* const> inputs, void* output, std::size_t count,
                 std::size_t divisor) {
  if (inputs.empty()) throw Error(ErrorCode::invalid_argument, "combine_avg: inputs is empty; it needs at least one");
  if (divisor == 0) throw Error(ErrorCode::invalid_argument, "combine_avg: divisor is 0; it must be positive");
  switch (type.kind()) {
    case DatatypeKind::int8:
      return average<std::int8_t>(inputs, output, count, divisor);
    case DatatypeKind::int16:
      return average<std::int16_t>(inputs, output, count, divisor);
    case DatatypeKind::int32:
      return average<std::int32_t>(inputs, output, count, divisor);
    case DatatypeKind::int64:
      return average<std::int64_t>(inputs, output, count, divisor);
    case DatatypeKind::uint8:
      return average<std::uint8_t>(inputs, output, count, divisor);
    case DatatypeKind::uint16:
      return average<std::uint16_t>(inputs, output, count, divisor);
    case DatatypeKind::uint32:
      return average<std::uint32_t>(inputs, output, count, divisor);
    case DatatypeKind::uint64:
      return average<std::uint64_t>(inputs, output, count, divisor);
    case DatatypeKind::float8_e4m3:
      return average_narrow<float8_e4m3_t>(inputs, output, count, divisor);
    case DatatypeKind::float8_e5m2:
      return average_narrow<float8_e5m2_t>(inputs, output, count, divisor);
    case DatatypeKind::float16:
      return average_narrow<float16_t>(inputs, output, count, divisor);
    case DatatypeKind::bfloat16:
      return average_narrow<bfloat16_t>(inputs, output, count, divisor);
    case DatatypeKind::float32:
      return average<float>(inputs, output, count, divisor);
    case DatatypeKind::float64:
      return average<double>(inputs, output, count, divisor);
    case DatatypeKind::complex64:
      return average<float>(inputs, output, 2 * count, divisor);
    case DatatypeKind::complex128:
      return average<double>(inputs, output, 2 * count, divisor);
    default:
      throw_undefined("avg", type.kind());
  }
}

void scale_copy(Datatype type, const void* input, void* output, std::size_t count, double factor) {
  switch (type.kind()) {
    case DatatypeKind::float8_e4m3:
      return scale_values<float8_e4m3_t>(input, output, count, factor);
    case DatatypeKind::float8_e5m2:
      return scale_values<float8_e5m2_t>(input, output, count, factor);
    case DatatypeKind::float16:
      return scale_values<float16_t>(input, output, count, factor);
    case DatatypeKind::bfloat16:
      return scale_values<bfloat16_t>(input, output, count, factor);
    case DatatypeKind::float32:
      return scale_values<float>(input, output, count, factor);
    case DatatypeKind::float64:
      return scale_values<double>(input, output, count, factor);
    case DatatypeKind::complex64:
      return scale_values<float>(input, output, 2 * count, factor);
    case DatatypeKind::complex128:
      return scale_values<double>(input, output, 2 * count, factor);
    default:
      throw_undefined("scaling", type.kind());
  }
}

void scale(Datatype type, void* data, std::size_t count, double factor) { scale_copy(type, data, data, count, factor); }

void divide(Datatype type, void* data, std::size_t count, std::size_t divisor) {
  const void* input = data;
  combine_avg(type, Inputs(&input, 1), data, count, divisor);
}

}  // namespace tutti::kernels
