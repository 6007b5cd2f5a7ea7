// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "call/backend.hpp"

namespace tutti::detail {

/// All backends, in the order in which they are asked for candidates.
[[nodiscard]] std::span<Backend* const> backends();

/// Adds a backend at the end, before the first communicator is made: for tests.
void add_backend(Backend& backend);

}  // namespace tutti::detail
