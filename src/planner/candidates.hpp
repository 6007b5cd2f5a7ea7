// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "call/candidates.hpp"

namespace tutti::detail {

/// Every way that any backend has to make a call. Those that can be chosen come first; of these the preferred ones,
/// then measured ones, since measured and predicted times do not compare; then the fastest. A pure function.
[[nodiscard]] std::vector<Candidate> candidates(const Signature& signature, const Machine& machine);

}  // namespace tutti::detail
