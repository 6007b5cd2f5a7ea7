// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_integers.hpp"

namespace tutti::kernels {

bool combine_words16(const CombineCall& call) { return combine_integers<std::int16_t>(call, DatatypeKind::int16); }

}  // namespace tutti::kernels
