// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_dispatch.hpp"
#include "kernels/combine_families.hpp"
#include "kernels/combine_host.hpp"

namespace tutti::kernels {

bool combine_float(const CombineCall& call) {
  const auto run = [&](const auto& functor) { combine_on_host(functor, call.inputs, call.output, call.count); };
  return call.type == DatatypeKind::float32 ? visit_float<float>(call.op, run) : visit_float<double>(call.op, run);
}

}  // namespace tutti::kernels
