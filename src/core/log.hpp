// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tutti::detail {

/// Writes a line to the standard error where TUTTI_LOG=1 asks for it; the same line once a process.
void log_once(const std::string& line);

}  // namespace tutti::detail
