// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::preload {

/// Constants of Fortran that are variables of the MPI there, known by their addresses.
enum class Sentinel { in_place, bottom, status_ignore, statuses_ignore, unweighted, weights_empty };

[[nodiscard]] bool is(Sentinel sentinel, const void* address);

}  // namespace tutti::preload
