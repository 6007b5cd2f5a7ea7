// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_dispatch.hpp"
#include "kernels/device/combine.hpp"
#include "kernels/device/combine_launch.hpp"

namespace tutti::kernels::device {

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
