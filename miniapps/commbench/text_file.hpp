// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tutti::commbench {

/// Writes a file whole or not at all; throws tutti::Error (io) that names it.
void write_text(const std::string& path, const std::string& text);

/// Reads a file; throws tutti::Error (io) that names it.
[[nodiscard]] std::string read_text(const std::string& path);

}  // namespace tutti::commbench
