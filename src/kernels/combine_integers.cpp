// SPDX-License-Identifier: BSD-3-Clause
// Integers, and pairs of a value and an index.
#include "kernels/combine_dispatch.hpp"
#include "kernels/combine_families.hpp"
#include "kernels/combine_host.hpp"

namespace tutti::kernels {

bool combine_integers(const CombineCall& call) {
  return visit_integer(call.type, call.op,
                       [&](const auto& functor) { combine_on_host(functor, call.inputs, call.output, call.count); });
}

bool combine_pair(const CombineCall& call) {
  return visit_pair(call.type, call.op,
                    [&](const auto& functor) { combine_on_host(functor, call.inputs, call.output, call.count); });
}

}  // namespace tutti::kernels
