// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// The calls of the program under TUTTI_CHECK or TUTTI_WATCHDOG: they are written into the flight recorder with their
/// places. Under TUTTI_CHECK the MPI makes all of them, and ranks compare their collectives before it does.
namespace tutti::preload {

namespace detail {
inline bool watches = false;
}
/// Whether one of the variables asks for it; false before MPI_Init and after MPI_Finalize.
[[nodiscard]] inline bool is_watched() { return detail::watches; }
/// TUTTI_CHECK.
[[nodiscard]] int check_level();
[[nodiscard]] inline bool is_checked() { return is_watched() && check_level() != 0; }

/// After MPI_Init; collective over MPI_COMM_WORLD. Returns the MPI's code of a failure, such as variables that differ
/// between ranks, which the error handler has had.
[[nodiscard]] int start_watching();
/// After all ranks have come to MPI_Finalize, and before the MPI's.
void stop_checking();
/// After MPI_Finalize.
void stop_watching();

/// The call that is being made, as a flight recorder keeps its place in the program.
[[nodiscard]] std::string current_place();

/// "tutti-mpi: rank 3: ", and the text, on standard error.
void say(const std::string& text);

}  // namespace tutti::preload
