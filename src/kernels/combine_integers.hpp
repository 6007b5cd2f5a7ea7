// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/combine_dispatch.hpp"
#include "kernels/combine_families.hpp"
#include "kernels/combine_host.hpp"

namespace tutti::kernels {

/// Integers and logicals of one width.
template <typename Signed>
bool combine_integers(const CombineCall& call, DatatypeKind signed_kind) {
  return visit_integer<Signed>(call.op, call.type == signed_kind, [&](const auto& functor) {
    combine_on_host(functor, call.inputs, call.output, call.count);
  });
}

}  // namespace tutti::kernels
