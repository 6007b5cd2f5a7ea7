// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/snapshot.hpp"

namespace tutti::detail::flight {

enum class FindingKind { death, divergence, deadlock, wait, late };
[[nodiscard]] std::string_view finding_name(FindingKind kind);

/// A sentence about a job, and the ranks of MPI_COMM_WORLD that it is about.
struct Finding {
  FindingKind kind;
  std::string text;
  std::vector<int> ranks;
};

/// "communicator 'world'", or a part of its mark where it has no name.
[[nodiscard]] std::string communicator_text(std::string_view name, std::uint64_t mark);

/// "allreduce #17 of communicator 'world' (float32, 400 B, sum)".
[[nodiscard]] std::string call_text(const Snapshot& snapshot, const SeenCall& call);

/// Ranks whose process has ended without MPI_Finalize.
[[nodiscard]] std::vector<Finding> find_deaths(const Job& job);
/// The first call of each communicator in which ranks differ, as far back as the rings go.
[[nodiscard]] std::vector<Finding> find_divergences(const Job& job);
/// Who waits for whom, the longest first, and the circles among them. least: shorter waits are left out, seconds.
[[nodiscard]] std::vector<Finding> find_waits(const Job& job, double least);
/// The rank that comes last to the collectives of all, if it is mostly the same.
[[nodiscard]] std::vector<Finding> find_late(const Job& job);

/// All of them, in this order.
[[nodiscard]] std::vector<Finding> find_all(const Job& job, double least_wait);

}  // namespace tutti::detail::flight
