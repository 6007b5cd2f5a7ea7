// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "call/context.hpp"
#include "simulation/machine.hpp"
#include "simulation/messages.hpp"

namespace tutti::simulation {

/// A communicator of some ranks of a machine.
struct Members {
  const Machine& machine;
  const std::vector<int>& ranks;
  Messages::Handle library;  ///< for the library's messages
  Messages::Handle caller;
};

/// What the factories of communicators do, without their exchanges: the facts on which the ranks agree are those of the
/// machine. rank: of all ranks.
[[nodiscard]] std::shared_ptr<detail::Context> begin_context(const Members& members, int rank,
                                                             const CommunicatorOptions& options);

}  // namespace tutti::simulation
