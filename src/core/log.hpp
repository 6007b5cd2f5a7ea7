// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tutti::detail {

/// Writes a line to standard error if TUTTI_LOG=1 is set, and each distinct line only once per process.
void log_once(const std::string& line);

}  // namespace tutti::detail
