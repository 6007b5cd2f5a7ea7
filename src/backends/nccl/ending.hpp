// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "backends/nccl/comm_body.hpp"

/// The end of NCCL communicators: in order or by abort, at once or when their graphs are gone. Any thread, without the
/// launch lock.
namespace tutti::detail::nccl {

/// Finalizes and destroys a communicator; waits up to its patience, then aborts. Leaves a communicator that graphs
/// still use to go_on_ending().
void end_with_patience(const std::shared_ptr<CommBody>& body) noexcept;
/// Aborts a communicator that is marked as aborted: now if possible, otherwise by go_on_ending().
void begin_abort(const std::shared_ptr<CommBody>& body) noexcept;
/// Polls each waiting communicator once. Never waits.
void go_on_ending() noexcept;

}  // namespace tutti::detail::nccl
