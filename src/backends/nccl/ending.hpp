// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "backends/nccl/comm_body.hpp"

/// How NCCL communicators end: in order, or by abort; at once, or when their graphs are gone. Any thread, without the
/// launch lock.
namespace tutti::detail::nccl {

/// Finalizes and destroys, waiting up to the communicator's patience, then aborts; what graphs still use is left to
/// go_on_ending().
void end_with_patience(const std::shared_ptr<CommBody>& body) noexcept;
/// Of a communicator that is marked as aborted: now where that is possible, else by go_on_ending().
void begin_abort(const std::shared_ptr<CommBody>& body) noexcept;
/// One look at each communicator that had to wait. Never waits.
void go_on_ending() noexcept;

}  // namespace tutti::detail::nccl
