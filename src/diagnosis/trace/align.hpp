// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diagnosis/trace/part.hpp"

namespace tutti::detail::trace {

/// Turns the ticks of all parts into nanoseconds since the first call. Parts of one machine share its counter. Those of
/// other machines are moved by the offsets to the machine of rank 0 that were measured, in between in proportion to the
/// time; without any they keep their machine's clock. Returns how the clocks were aligned, in words.
[[nodiscard]] std::string align(std::vector<Part>& parts);

}  // namespace tutti::detail::trace
