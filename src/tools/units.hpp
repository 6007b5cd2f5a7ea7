// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::tools {

/// Parses "64", "4KiB", "1 MiB" or "2G" as bytes (K, M and G alone are powers of 1024; kB, MB and GB of 1000). Throws
/// UsageError, which quotes the text, if it is not a size.
[[nodiscard]] std::size_t parse_bytes(std::string_view text);

/// "64 B", "1.5 KiB", "1 MiB".
[[nodiscard]] std::string bytes_text(double bytes);

/// "0.11 us", "12.3 us", "1.20 ms", "3.4 s": three digits.
[[nodiscard]] std::string seconds_text(double seconds);

}  // namespace tutti::tools
