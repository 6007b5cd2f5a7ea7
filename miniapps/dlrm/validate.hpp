// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"

namespace dlrm {

/// Throws tutti::Error (invalid_argument), naming the flags, when options contradict each other.
void validate(const Options& options);

}  // namespace dlrm
