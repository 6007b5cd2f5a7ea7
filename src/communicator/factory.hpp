// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "call/context.hpp"

namespace tutti::detail {

/// Creates the private duplicates, discovers the topology, checks that the ranks agree on version, options and
/// environment, and creates the states of all backends. Collective over `handle`, which stays the caller's; its
/// ownership is set afterwards.
[[nodiscard]] std::shared_ptr<Context> make_context(MPI_Comm handle, const CommunicatorOptions& options);
/// The same for a part of a communicator; everything but duplicates and states follows from the parent.
[[nodiscard]] std::shared_ptr<Context> make_child_context(const Context& parent, MPI_Comm handle);

}  // namespace tutti::detail
