// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call/backend.hpp"

namespace tutti::detail::shm {

/// A blocking call to its end. A call by `line` or `slots` is made with nothing but locals, as long as its cell is free
/// and the other ranks come soon; an execution goes on with what that has begun, and makes all other calls.
void run_short_way(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options);

}  // namespace tutti::detail::shm
