// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_dispatch.hpp"
#include "kernels/combine_families.hpp"
#include "kernels/combine_host.hpp"

namespace tutti::kernels {
namespace {

template <typename Signed>
bool combine_width(const CombineCall& call, DatatypeKind signed_kind) {
  return visit_integer<Signed>(call.op, call.type == signed_kind, [&](const auto& functor) {
    combine_on_host(functor, call.inputs, call.output, call.count);
  });
}

}  // namespace

bool combine_integers(const CombineCall& call) {
  switch (call.type) {
    case DatatypeKind::int8:
    case DatatypeKind::uint8:
    case DatatypeKind::logical8:
      return combine_width<std::int8_t>(call, DatatypeKind::int8);
    case DatatypeKind::int16:
    case DatatypeKind::uint16:
    case DatatypeKind::logical16:
      return combine_width<std::int16_t>(call, DatatypeKind::int16);
    case DatatypeKind::int32:
    case DatatypeKind::uint32:
    case DatatypeKind::logical32:
      return combine_width<std::int32_t>(call, DatatypeKind::int32);
    default:
      return combine_width<std::int64_t>(call, DatatypeKind::int64);
  }
}

}  // namespace tutti::kernels
