// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace tutti::detail::trace {

/// The parts of a trace that lie beside its file, of the job that was begun last. problems: a line for each file that
/// is none, and for the parts of other jobs.
[[nodiscard]] std::vector<std::string> find_parts(const std::string& file, std::vector<std::string>& problems);

/// Merges parts into one file, which it replaces. Returns the problem in words; empty: there was none. lines: a line
/// for each part that is left out.
[[nodiscard]] std::string merge(const std::vector<std::string>& paths, const std::string& file,
                                std::vector<std::string>& lines);

}  // namespace tutti::detail::trace
