// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "call/candidates.hpp"

namespace tutti::detail {

/// All candidates of all backends for a call. Candidates that can be chosen come first; among these, preferred before
/// others, then measured before predicted, because measured and predicted times do not compare, then faster before
/// slower. A pure function.
[[nodiscard]] std::vector<Candidate> candidates(const Signature& signature, const Machine& machine);

}  // namespace tutti::detail
