// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace tutti::tools {

/// `tutti explain`: the choice for a call and its reasons, and the table of operations and backends.
void add_explain(CLI::App& app);

}  // namespace tutti::tools
