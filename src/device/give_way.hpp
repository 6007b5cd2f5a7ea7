// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::detail::device {

/// Progresses all outstanding operations and the host MPI. A thread that waits for a device calls this between two
/// polls, because a peer may need that progress before it can do its part of the device's work.
void give_way();

}  // namespace tutti::detail::device
