// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace tutti::tools {

/// `tutti regret`: measures how much slower the choices without a table are than the fastest ways.
void add_regret(CLI::App& app);

}  // namespace tutti::tools
