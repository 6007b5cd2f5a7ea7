// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_dispatch.hpp"
#include "kernels/combine_families.hpp"
#include "kernels/combine_host.hpp"

namespace tutti::kernels {

bool combine_narrow(const CombineCall& call) {
  const auto run = [&](const auto& functor) { combine_on_host(functor, call.inputs, call.output, call.count); };
  switch (call.type) {
    case DatatypeKind::float16:
      return visit_float<float16_t>(call.op, run);
    case DatatypeKind::bfloat16:
      return visit_float<bfloat16_t>(call.op, run);
    case DatatypeKind::float8_e4m3:
      return visit_float<float8_e4m3_t>(call.op, run);
    default:
      return visit_float<float8_e5m2_t>(call.op, run);
  }
}

}  // namespace tutti::kernels
