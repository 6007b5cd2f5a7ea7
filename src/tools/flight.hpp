// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace CLI {
class App;
}

namespace tutti::tools {

/// `tutti flight`: shows what the ranks of a job have called, and who waits for whom. Needs no MPI.
void add_flight(CLI::App& app);
/// Returns true if the command line asks for it.
[[nodiscard]] bool is_flight(int argc, const char* const* argv);

}  // namespace tutti::tools
