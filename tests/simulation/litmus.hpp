// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::simulation {

/// Plays short programs of which it is known what weak memory may show and what not (litmus tests), each with many
/// seeds. Writes what is wrong. Returns true if nothing is.
[[nodiscard]] bool play_litmus();

}  // namespace tutti::simulation
