// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace tutti::detail {

using TextRows = std::vector<std::vector<std::string>>;

/// Lays out rows of text in columns as wide as their longest entry and two blanks apart, without trailing blanks.
[[nodiscard]] std::string in_columns(const TextRows& rows);

}  // namespace tutti::detail
