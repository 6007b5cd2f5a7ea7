// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::detail::device {

/// What a thread does between two looks at a device that it must wait for: all outstanding operations and the host MPI
/// go on, since a peer may need them before it can do its part of what the device works on.
void give_way();

}  // namespace tutti::detail::device
