// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace tutti::tools {

/// The largest number of ranks in a drawing.
inline constexpr int most_drawn_ranks = 64;

/// Writes the drawing of what a subcommand prints as JSON, which a program of the installation makes: rounds.py that of
/// measured rounds. Throws Error (not_supported) if there is no python3.
void write_drawing(const std::string& path, const std::string& json, std::string_view by = "draw.py");

}  // namespace tutti::tools
