// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>
#include <tutti/point_to_point.hpp>

#include "call/context.hpp"
#include "call/point_to_point.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

/// Checks the arguments of a send or a receive; `call` names the public function in messages,
/// `declared` is the memory kind that the options give.
[[nodiscard]] PointToPoint checked_send(const Context& comm, std::string_view call, const ConstBuffer& buffer, int dest,
                                        int tag, MemoryKind declared);
[[nodiscard]] PointToPoint checked_recv(const Context& comm, std::string_view call, const Buffer& buffer, int source,
                                        int tag, MemoryKind declared);

/// Posts transfers as one operation, and waits for it or returns its request; or prepares them for a persistent one.
Status run_transfers(const std::shared_ptr<Context>& comm, std::string_view call, PointToPoints&& transfers,
                     const Options& options);
[[nodiscard]] Request start_transfers(const std::shared_ptr<Context>& comm, std::string_view call,
                                      PointToPoints&& transfers, const Options& options);
[[nodiscard]] Request prepare_transfers(const std::shared_ptr<Context>& comm, std::string_view call,
                                        PointToPoints&& transfers, const Options& options);

}  // namespace tutti::detail
