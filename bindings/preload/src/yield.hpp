// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tutti::preload {

/// How often this rank has given up its core in waits of the MPI.
[[nodiscard]] std::uint64_t yields() noexcept;

}  // namespace tutti::preload
