// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call/context.hpp"
#include "call/costs.hpp"

namespace tutti::detail {

/// Measures messages of the host MPI between this rank and the rank half the ranks away, all pairs at the same time;
/// nothing for a check. Collective over the communicator; takes a few milliseconds;
/// yields while it waits.
void calibrate_messages(Context& context, Costs& costs, Calibration kind);

}  // namespace tutti::detail
