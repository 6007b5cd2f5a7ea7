// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/gradient_reducer.hpp>
#include <vector>

namespace tutti::detail::reducer {

/// A setting that must match on all ranks, with this rank's value.
struct Fact {
  std::string subject;
  std::string value;

  friend bool operator==(const Fact&, const Fact&) = default;
};

/// Everything that this rank has registered: its options, then its parameters.
[[nodiscard]] std::vector<Fact> facts_of(const ReducerOptions& options, std::span<const Parameter> parameters);

/// Index of the first difference; the size of the longer list where there is none.
[[nodiscard]] std::size_t first_difference(std::span<const Fact> a, std::span<const Fact> b);
[[nodiscard]] std::string difference_text(std::span<const Fact> on_root, std::span<const Fact> here, int rank);

[[nodiscard]] std::string pack(std::span<const Fact> facts);
[[nodiscard]] std::vector<Fact> unpack(std::string_view packed);

/// Throws the same Error(mismatch) on every rank if the facts of any rank differ from those of rank 0. Collective over
/// `comm`; blocking.
void compare(const Communicator& comm, std::span<const Fact> facts);

/// Throws the same Error(not_supported) on every rank if any rank wants a thread that its MPI does not allow.
/// Collective over `comm`; blocking.
void check_threads(const Communicator& comm, bool wants_thread);

/// Sends rank 0's values to all. Collective over `comm`; blocking.
void broadcast_values(const Communicator& comm, std::span<const Parameter> parameters, MemoryKind memory);

}  // namespace tutti::detail::reducer
