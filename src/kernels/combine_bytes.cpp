// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_integers.hpp"

namespace tutti::kernels {

bool combine_bytes(const CombineCall& call) { return combine_integers<std::int8_t>(call, DatatypeKind::int8); }

}  // namespace tutti::kernels
