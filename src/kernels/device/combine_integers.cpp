// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_dispatch.hpp"
#include "kernels/device/combine_launch.hpp"

namespace tutti::kernels::device {

namespace {

template <typename Signed>
bool combine_width(const CombineJob& job, DatatypeKind signed_kind) {
  return visit_integer<Signed>(job.op, job.type == signed_kind, [&](const auto& functor) {
    launch_combine(job.stream, functor, job.inputs, job.output, job.count);
  });
}

}  // namespace

bool combine_integers(const CombineJob& job) {
  switch (job.type) {
    case DatatypeKind::int8:
    case DatatypeKind::uint8:
    case DatatypeKind::logical8:
      return combine_width<std::int8_t>(job, DatatypeKind::int8);
    case DatatypeKind::int16:
    case DatatypeKind::uint16:
    case DatatypeKind::logical16:
      return combine_width<std::int16_t>(job, DatatypeKind::int16);
    case DatatypeKind::int32:
    case DatatypeKind::uint32:
    case DatatypeKind::logical32:
      return combine_width<std::int32_t>(job, DatatypeKind::int32);
    default:
      return combine_width<std::int64_t>(job, DatatypeKind::int64);
  }
}

}  // namespace tutti::kernels::device
