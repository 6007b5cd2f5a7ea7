// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/protocol.hpp"
#include "backends/shm/tree_cost.hpp"
#include "call/machine.hpp"

namespace tutti::detail::shm {

/// Predict the time of a call by a protocol among the ranks of one node, in seconds, from the lines that a rank waits
/// for, the bytes that the busiest rank copies through which path, and the machine's costs of both. `start`: until a
/// rank has seen the flags of all that it waits for.
[[nodiscard]] double start_seconds(const Signature& signature, const Machine& machine);
[[nodiscard]] double line_seconds(const Signature& signature, const Machine& machine);
[[nodiscard]] double slot_seconds(const Signature& signature, const Machine& machine);
[[nodiscard]] double single_copy_seconds(const Signature& signature, const Machine& machine);
[[nodiscard]] double part_seconds(const Signature& signature, const Machine& machine);
[[nodiscard]] double ring_seconds(Protocol protocol, const Signature& signature, const Machine& machine);
/// By `tree`, if the places of the ranks are unknown.
[[nodiscard]] double unplaced_tree_seconds(const Signature& signature, const Machine& machine);
/// Predicts the time of a call by `tree` along groups of this shape, in seconds.
[[nodiscard]] double predict_tree(const Signature& signature, const TreeShape& shape, const Machine& machine);
/// The longest block of a v-form for which its way through a slot, in one chunk, takes no longer than a single copy, in
/// bytes.
[[nodiscard]] std::size_t longest_in_slot(const Signature& signature, const Machine& machine);

}  // namespace tutti::detail::shm
