// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "backends/shm/arena.hpp"
#include "call/context.hpp"

namespace tutti::detail::shm {

/// Throws because a rank has failed, so that this one does not wait for it. who: begins the text.
[[noreturn]] void throw_failure(const Arena& arena, Context& context, const std::string& who);

/// A peer may be inside the host MPI, waiting for data that only this rank's progress there can send, or for access to
/// this rank's window.
void look_into_mpi(const Context& context);

}  // namespace tutti::detail::shm
