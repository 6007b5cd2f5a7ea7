// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"

namespace dlrm {

/// Throws tutti::Error (invalid_argument), naming the flags, when options contradict each other.
void validate(const Options& options);

/// Width of the interaction's output for F = tables + 1 features of length D. Shapes: dot gives the dense vector and one
/// value for each pair, cat all vectors side by side.
[[nodiscard]] std::size_t interaction_width(const Options& options, std::size_t tables);

}  // namespace dlrm
