// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <tutti/communication_hook.hpp>
#include <tutti/gradient_reducer.hpp>

namespace tutti::detail::reducer {

/// "[64, 3, 7, 7]"; "[]" for a scalar.
[[nodiscard]] std::string shape_text(std::span<const std::size_t> shape);

/// The parameter-to-bucket map as a table.
[[nodiscard]] std::string map_text(std::span<const GradientBucket> buckets, std::span<const Parameter> parameters);

}  // namespace tutti::detail::reducer
