// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace tutti::detail {

using TextRows = std::vector<std::vector<std::string>>;

/// Rows of text with columns as wide as their longest entry, two blanks apart, without blanks at the ends of lines.
[[nodiscard]] std::string in_columns(const TextRows& rows);

}  // namespace tutti::detail
