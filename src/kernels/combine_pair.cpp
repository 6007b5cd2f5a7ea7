// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_dispatch.hpp"
#include "kernels/combine_families.hpp"
#include "kernels/combine_host.hpp"

namespace tutti::kernels {

bool combine_pair(const CombineCall& call) {
  const auto run = [&](const auto& functor) { combine_on_host(functor, call.inputs, call.output, call.count); };
  switch (call.type) {
    case DatatypeKind::float32_int32:
      return visit_pair<float, std::int32_t>(call.op, run);
    case DatatypeKind::float64_int32:
      return visit_pair<double, std::int32_t>(call.op, run);
    case DatatypeKind::int32_int32:
      return visit_pair<std::int32_t, std::int32_t>(call.op, run);
    case DatatypeKind::int64_int32:
      return visit_pair<std::int64_t, std::int32_t>(call.op, run);
    case DatatypeKind::int64_int64:
      return visit_pair<std::int64_t, std::int64_t>(call.op, run);
    case DatatypeKind::float64_int64:
      return visit_pair<double, std::int64_t>(call.op, run);
    case DatatypeKind::float32_float32:
      return visit_pair<float, float>(call.op, run);
    default:
      return visit_pair<double, double>(call.op, run);
  }
}

}  // namespace tutti::kernels
