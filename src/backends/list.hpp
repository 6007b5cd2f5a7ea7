// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "backends/shm/protocol.hpp"
#include "call/backend.hpp"

namespace tutti::detail {

/// All backends, in the order in which they are asked for candidates.
[[nodiscard]] std::span<Backend* const> backends();

/// Adds a backend at the end, before the first communicator is made: for tests.
void add_backend(Backend& backend);

/// Like shm_backend, each is defined in backend.cpp of its folder. Beside the list only tools and tests name one.
extern Backend mpi_backend;
extern Backend native_backend;
extern Backend nccl_backend;
extern Backend staged_backend;

}  // namespace tutti::detail
