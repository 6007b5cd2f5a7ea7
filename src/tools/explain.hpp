// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace tutti::tools {

/// `tutti explain`: what would be chosen for a call and why, and the table of operations and backends.
void add_explain(CLI::App& app);

}  // namespace tutti::tools
