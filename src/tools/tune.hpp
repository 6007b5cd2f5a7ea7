// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace tutti::tools {

/// `tutti tune`: measures the candidates of all calls on the ranks of this job and writes a table of the results.
void add_tune(CLI::App& app);

}  // namespace tutti::tools
