// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "diagnosis/find.hpp"

namespace tutti::detail::flight {

/// Snapshots for a process of another host, with the last calls of each rank.
[[nodiscard]] std::string to_bytes(const Job& job, std::size_t last_calls);
/// The snapshots again; none if the bytes are damaged.
[[nodiscard]] Job from_bytes(std::string_view bytes);

}  // namespace tutti::detail::flight
