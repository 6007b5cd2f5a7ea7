// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace CLI {
class App;
}

namespace tutti::tools {

/// `tutti trace`: merges the parts of a trace, and says where the time of a traced job went. Needs no MPI.
void add_trace(CLI::App& app);
/// Returns true if the command line asks for it.
[[nodiscard]] bool is_trace(int argc, const char* const* argv);

}  // namespace tutti::tools
