// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "call/machine.hpp"
#include "operation/binding.hpp"
#include "schedules/layout.hpp"
#include "schedules/registry.hpp"

/// Rules for backends that run schedules.
namespace tutti::detail {

struct Context;
struct Plan;

/// Floats of 16 and 8 bits: they are converted to float32 before they are combined.
[[nodiscard]] bool is_small_float(DatatypeKind kind);

/// Returns true if the call adds up floating-point numbers.
[[nodiscard]] bool adds_floats(const Signature& signature);
/// Returns true if it adds them up without rounding.
[[nodiscard]] inline bool sums_exactly(const Signature& signature) {
  return signature.accumulation == Accumulation::exact && adds_floats(signature);
}

/// Returns true if each element must be combined in one step in rank order: in reproducible mode, and for floats that
/// must be rounded once.
[[nodiscard]] bool needs_single_combine(const Signature& signature);

/// The reason why a schedule does not give the call's result for that many ranks on any backend; empty if it does.
[[nodiscard]] std::string why_wrong(const schedules::Algorithm& algorithm, const Signature& signature,
                                    const schedules::Spread& spread);

/// The reason why an algorithm is available only by name at this number of ranks; empty if it is not.
[[nodiscard]] std::string why_too_many_ranks(const schedules::Algorithm& algorithm, int size);

/// The problem that a schedule solves in one call.
[[nodiscard]] schedules::Problem problem_of(int rank, int size, int root, std::size_t count, const Binding& binding);

/// Makes this rank's part of the schedule of a plan that has an algorithm and whose counts all ranks know.
void add_schedule(Plan& plan, const Machine& machine);

/// The schedule of a plan for one binding: the plan's own, or one made from a v-form's counts. told: as Problem::told,
/// if the algorithm tells counts.
[[nodiscard]] std::shared_ptr<const schedules::Schedule> bound_schedule(const Context& context, const Plan& plan,
                                                                        const Binding& binding,
                                                                        std::span<const std::size_t> told = {});

}  // namespace tutti::detail
