// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_dispatch.hpp"
#include "kernels/device/combine_launch.hpp"

namespace tutti::kernels::device {

bool combine_pairs(const CombineJob& job) {
  const auto run = [&](const auto& functor) { launch_combine(job.stream, functor, job.inputs, job.output, job.count); };
  switch (job.type) {
    case DatatypeKind::float32_int32:
      return visit_pair<float, std::int32_t>(job.op, run);
    case DatatypeKind::float64_int32:
      return visit_pair<double, std::int32_t>(job.op, run);
    case DatatypeKind::int32_int32:
      return visit_pair<std::int32_t, std::int32_t>(job.op, run);
    case DatatypeKind::int64_int32:
      return visit_pair<std::int64_t, std::int32_t>(job.op, run);
    case DatatypeKind::int64_int64:
      return visit_pair<std::int64_t, std::int64_t>(job.op, run);
    case DatatypeKind::float64_int64:
      return visit_pair<double, std::int64_t>(job.op, run);
    case DatatypeKind::float32_float32:
      return visit_pair<float, float>(job.op, run);
    default:
      return visit_pair<double, double>(job.op, run);
  }
}

}  // namespace tutti::kernels::device
