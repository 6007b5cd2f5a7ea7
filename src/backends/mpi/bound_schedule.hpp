// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "call/binding.hpp"
#include "call/plan.hpp"

namespace tutti::detail {

struct CommState;

/// The schedule of a plan for one binding: the plan's own, or that of a v-form's counts.
[[nodiscard]] std::shared_ptr<const schedules::Schedule> bound_schedule(const CommState& comm, const Plan& plan,
                                                                        const Binding& binding);

/// The same plan for another uniform count.
[[nodiscard]] std::shared_ptr<const Plan> with_count(const CommState& comm, const Plan& plan, std::size_t count);

}  // namespace tutti::detail
