// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "call/machine.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

struct Plan;

/// Chooses backend and algorithm. A pure function of shared facts, except for the rank, which only selects this rank's
/// part of the schedule. Signature::algorithm may name a backend ("shm", "mpi", "native": its fastest candidate here)
/// or a candidate ("shm:slots", "mpi:ring", "ring"). With one rank every name means a local copy. Throws
/// invalid_algorithm, with the valid names, if the named algorithm does not exist or cannot make the call.
[[nodiscard]] std::shared_ptr<const Plan> make_plan(const Signature& signature, const Machine& machine);

/// The ways between which the calls of a signature may find out, the predicted one first. Empty if there is nothing to
/// find out: the time was measured, the call names its way, or reproducible results forbid a change. Ways that would
/// change the order of a reduction are left out, and ways in which a rank waits for others that it need not wait for.
[[nodiscard]] std::vector<std::shared_ptr<const Plan>> ways_to_try(const Signature& signature, const Machine& machine);

/// The same plan for another uniform count.
[[nodiscard]] std::shared_ptr<const Plan> with_count(const Plan& plan, std::size_t count, const Machine& machine);

}  // namespace tutti::detail
