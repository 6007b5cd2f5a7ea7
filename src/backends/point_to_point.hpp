// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "backends/mpi/short_messages.hpp"
#include "call/backend.hpp"
#include "call/point_to_point.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

/// Sends and receives that are posted together. Messages always go over the host MPI, from and to any memory. `name`
/// is the public function in messages, a literal.

/// Makes a nonblocking or persistent execution of them.
[[nodiscard]] std::shared_ptr<Execution> make_transfers(const ContextPtr& context, std::string_view name,
                                                        PointToPoints&& transfers, CallKind kind,
                                                        const CallOptions& options);
/// Runs them to their end, without an execution on the heap, and returns the status of the last receive.
Status drive_transfers(const ContextPtr& context, std::string_view name, PointToPoints&& transfers,
                       const CallOptions& options);

/// Makes a blocking send, receive, or one of each, from where its short way has left it, and returns the status of the
/// receive; null: the call makes none.
Status continue_messages(const ContextPtr& context, std::string_view name, const PointToPoint* send,
                         const PointToPoint* recv, const CallOptions& options, const ShortMessages& begun);

/// Looks for a message without receiving it.
[[nodiscard]] std::optional<Status> look_for(const Context& context, const Wanted& wanted);
/// Waits until the message is here.
Status wait_for(const ContextPtr& context, const Wanted& wanted, const CallOptions& options);

}  // namespace tutti::detail
