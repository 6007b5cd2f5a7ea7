// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tutti::tools {

/// The largest number of ranks in a drawing.
inline constexpr int most_drawn_ranks = 64;

/// Writes the drawing of what a subcommand prints as JSON, which draw.py makes. Throws Error (not_supported) if there
/// is no python3.
void write_drawing(const std::string& path, const std::string& json);

}  // namespace tutti::tools
