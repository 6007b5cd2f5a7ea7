// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "call/context.hpp"
#include "planner/key.hpp"

namespace tutti::detail::tuning {

/// Gives a new communicator the costs of its machine: those in the user's cache, else measured here and now in less
/// than 20 ms, which the cache then keeps; TUTTI_CALIBRATION says otherwise. Costs measured beside other work on the
/// same cores are kept nowhere, and not used where the cache has others. A communicator with ranks that share
/// cores, or of one rank, measures nothing and takes what the cache has for this processor. Equal on all ranks. Never
/// fails for a cache that cannot be read or written. Collective.
void calibrate(Context& context);

/// Moves ranks that the system has started on one core, while others are idle, to cores of their own: two that share a
/// core measure its time slices. Collective over the ranks of one node.
void move_apart(const Context& context);

/// Makes the next communicator of this process measure again, because calls took other times than predicted. Has an
/// effect once per process. All ranks of a communicator must find so together.
void doubt_calibration() noexcept;
[[nodiscard]] bool is_calibration_doubted() noexcept;

/// The file that keeps costs: calibration.json beside the user's table; empty if the user has no cache.
[[nodiscard]] std::filesystem::path calibration_file();

/// The costs of a machine in the text of such a file, if they are there and make sense.
[[nodiscard]] std::optional<Costs> costs_in(std::string_view text, const Key& key);
/// The text with the costs of one more machine, or with others of it.
[[nodiscard]] std::string with_costs(std::string_view text, const Key& key, const Costs& costs);
/// Returns true if all costs are finite and neither negative nor absurd.
[[nodiscard]] bool are_sane(const Costs& costs);

/// Seconds and rates for people: "line 62 ns, slot_write 10.4 GB/s".
[[nodiscard]] std::string text_of(const Costs& costs);

}  // namespace tutti::detail::tuning
