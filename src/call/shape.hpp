// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "call/binding.hpp"
#include "call/plan.hpp"

namespace tutti::detail {

/// Elements that the input buffer of this rank spans.
[[nodiscard]] std::size_t input_count(schedules::Operation operation, int size, std::size_t count,
                                      const Binding& binding);

/// Elements of a reduction's result on this rank; 0 where it gets none.
[[nodiscard]] std::size_t result_count(const Signature& signature, const Binding& binding, int rank);

}  // namespace tutti::detail
