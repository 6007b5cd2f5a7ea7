// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/trace/part.hpp"

namespace tutti::detail::trace {

/// A text in quotes, as JSON has it. Bytes that are no UTF-8 become question marks.
[[nodiscard]] std::string json_text(std::string_view text);

/// Writes parts in the Trace Event Format, which Perfetto shows: a process for each rank, a line for each event, in the
/// order of time. Times are microseconds since the first call. clocks: how they were aligned.
///
/// A blocking call, a wait for a request and a range are slices; a nonblocking call is a slice without length at its
/// start, and an asynchronous slice until its end. Arrows lead from sends to receives, and from the rank that another
/// has waited for to that other.
void write_json(std::FILE* file, const std::vector<Part>& parts, std::string_view clocks);

}  // namespace tutti::detail::trace
