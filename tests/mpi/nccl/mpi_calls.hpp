// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::test {

/// Calls of MPI so far, by any thread, that would have invalidated an open capture if MPI had used the device in them.
/// The stand-ins' own calls do not count.
[[nodiscard]] int mpi_calls_in_captures();

}  // namespace tutti::test
