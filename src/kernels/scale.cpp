// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/error.hpp>

#include "kernels/combine.hpp"
#include "kernels/combine_dispatch.hpp"
#include "kernels/combine_host.hpp"

namespace tutti::kernels {

namespace {

template <typename T>
void average(Inputs inputs, void* output, std::size_t count, std::size_t divisor) {
  constexpr bool is_narrow = is_small_float<T>;
  AverageFunctor<std::conditional_t<is_narrow, float, T>> functor;
  functor.divisor = divisor;
  if constexpr (is_narrow) {
    combine_narrow_on_host<T>(functor, inputs, output, count);
  } else {
    combine_on_host(functor, inputs, output, count);
  }
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
  const bool done = visit_number(
      type.kind(), [&]<typename T>(T*, std::size_t values) { average<T>(inputs, output, values * count, divisor); });
  if (!done) throw_undefined("avg", type.kind());
}

void scale_copy(Datatype type, const void* input, void* output, std::size_t count, double factor) {
  const bool done = visit_floating(
      type.kind(), [&]<typename T>(T*, std::size_t values) { scale_values<T>(input, output, values * count, factor); });
  if (!done) throw_undefined("scaling", type.kind());
}

void scale(Datatype type, void* data, std::size_t count, double factor) { scale_copy(type, data, data, count, factor); }

void divide(Datatype type, void* data, std::size_t count, std::size_t divisor) {
  const void* input = data;
  combine_avg(type, Inputs(&input, 1), data, count, divisor);
}

}  // namespace tutti::kernels
