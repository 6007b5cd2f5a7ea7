// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "backends/nccl/set_up.hpp"
#include "backends/nccl/vote.hpp"

namespace tutti::detail::nccl {

/// Goes on with the set-up of `body` until all ranks of `comm` have succeeded, or one has failed or is not done after
/// `timeout` (0: none), while MPI and all outstanding operations of the library progress. Collective over `comm`,
/// blocking.
[[nodiscard]] Vote::Decision set_up_together(const Context& comm, const CommBody& body, SetUp& set_up,
                                             std::chrono::nanoseconds timeout);

}  // namespace tutti::detail::nccl
