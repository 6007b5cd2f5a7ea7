// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_integers.hpp"

namespace tutti::kernels {

bool combine_words32(const CombineCall& call) { return combine_integers<std::int32_t>(call, DatatypeKind::int32); }

}  // namespace tutti::kernels
