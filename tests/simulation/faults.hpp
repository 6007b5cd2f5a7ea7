// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/arena.hpp"
#include "simulation/machine.hpp"

namespace tutti::simulation {

/// Writes a word of a rank's cells as a defective protocol might: the faults slot, result and generation.
void spoil_word(Fault fault, detail::shm::Arena& arena, Random& random);

/// Gives a rank other costs than all others have.
void spoil_decisions(detail::Context& context);

}  // namespace tutti::simulation
