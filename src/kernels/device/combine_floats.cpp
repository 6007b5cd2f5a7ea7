// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_dispatch.hpp"
#include "kernels/device/combine_launch.hpp"

namespace tutti::kernels::device {

namespace {

template <typename F>
bool combine_as(const CombineJob& job) {
  return visit_float<F>(
      job.op, [&](const auto& functor) { launch_combine(job.stream, functor, job.inputs, job.output, job.count); });
}

template <typename F>
bool combine_complex(const CombineJob& job) {
  if (job.op == ReduceKind::prod) {
    launch_combine(job.stream, ComplexProdFunctor<F>{}, job.inputs, job.output, job.count);
  } else {
    launch_combine(job.stream, SumFunctor<F>{}, job.inputs, job.output, 2 * job.count);
  }
  return true;
}

}  // namespace

bool combine_floats(const CombineJob& job) {
  switch (job.type) {
    case DatatypeKind::float8_e4m3:
      return combine_as<float8_e4m3_t>(job);
    case DatatypeKind::float8_e5m2:
      return combine_as<float8_e5m2_t>(job);
    case DatatypeKind::float16:
      return combine_as<float16_t>(job);
    case DatatypeKind::bfloat16:
      return combine_as<bfloat16_t>(job);
    case DatatypeKind::float32:
      return combine_as<float>(job);
    case DatatypeKind::float64:
      return combine_as<double>(job);
    case DatatypeKind::complex64:
      return combine_complex<float>(job);
    default:
      return combine_complex<double>(job);
  }
}

}  // namespace tutti::kernels::device
