// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_dispatch.hpp"
#include "kernels/combine_families.hpp"
#include "kernels/combine_host.hpp"

namespace tutti::kernels {

namespace {

template <typename T>
bool combine_as(const CombineCall& call) {
  return visit_float<float>(
      call.op, [&](const auto& functor) { combine_narrow_on_host<T>(functor, call.inputs, call.output, call.count); });
}

}  // namespace

bool combine_narrow(const CombineCall& call) {
  switch (call.type) {
    case DatatypeKind::float16:
      return combine_as<float16_t>(call);
    case DatatypeKind::bfloat16:
      return combine_as<bfloat16_t>(call);
    case DatatypeKind::float8_e4m3:
      return combine_as<float8_e4m3_t>(call);
    default:
      return combine_as<float8_e5m2_t>(call);
  }
}

}  // namespace tutti::kernels
