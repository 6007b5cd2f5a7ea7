// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "call/binding.hpp"
#include "call/plan.hpp"

namespace tutti::detail {

/// The number of elements that this rank's input buffer spans.
[[nodiscard]] std::size_t input_count(schedules::Operation operation, int size, std::size_t count,
                                      const Binding& binding);

/// The number of elements of a reduction's result on this rank; 0 if it gets none.
[[nodiscard]] std::size_t result_count(const Signature& signature, const Binding& binding, int rank);

}  // namespace tutti::detail
