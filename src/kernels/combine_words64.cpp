// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_integers.hpp"

namespace tutti::kernels {

bool combine_words64(const CombineCall& call) { return combine_integers<std::int64_t>(call, DatatypeKind::int64); }

}  // namespace tutti::kernels
