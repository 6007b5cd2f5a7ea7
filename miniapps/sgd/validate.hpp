// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"

namespace sgd {

/// Throws tutti::Error (invalid_argument), naming the flags, when options contradict each other.
void validate(const Options& options);

}  // namespace sgd
