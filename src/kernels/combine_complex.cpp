// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_families.hpp"
#include "kernels/combine_host.hpp"

namespace tutti::kernels {

bool combine_complex(const CombineCall& call) {
  const bool single = call.type == DatatypeKind::complex64;
  switch (call.op) {
    case ReduceKind::sum:
    case ReduceKind::avg:
    case ReduceKind::premul_sum: {
      const DatatypeKind part = single ? DatatypeKind::float32 : DatatypeKind::float64;
      return combine_float({part, ReduceKind::sum, call.inputs, call.output, 2 * call.count});
    }
    case ReduceKind::prod:
      if (single) {
        combine_on_host(ComplexProdFunctor<float>{}, call.inputs, call.output, call.count);
      } else {
        combine_on_host(ComplexProdFunctor<double>{}, call.inputs, call.output, call.count);
      }
      return true;
    default:
      return false;
  }
}

}  // namespace tutti::kernels
