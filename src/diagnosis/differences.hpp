// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/snapshot.hpp"

namespace tutti::detail::flight {

/// How two runs part, or ranks of one run.
enum class PartingKind : std::uint8_t {
  unequal,  ///< ranks of one run have other results of a call that gives all ranks the same
  before,   ///< a call that one of the recorders does not hold any more
  call,     ///< the runs make other calls
  given,    ///< ranks give other data to the same call
  taken,    ///< all ranks give the same data, and ranks take others
  end,      ///< one run makes calls that the other one does not
};
[[nodiscard]] std::string_view parting_name(PartingKind kind);

/// The first call in which two runs differ, or ranks of one run. Ranks are those of MPI_COMM_WORLD.
struct Parting {
  PartingKind kind = PartingKind::given;
  const Snapshot* snapshot = nullptr;  ///< of the run that is named first
  SeenCall call{};                     ///< on that rank
  SeenCall other{};                    ///< in the other run, or on another rank
  std::vector<int> ranks{};            ///< those that differ
  std::vector<int> equal_ranks{};      ///< those that give or take the same
  std::optional<Extent> bytes{};       ///< of the data of the rank, if known: the first difference lies there
  std::int64_t time = 0;               ///< nanoseconds since 1970
};

/// How far a comparison went.
struct Comparison {
  std::optional<Parting> parting{};
  std::size_t compared = 0;  ///< calls, of all communicators
  std::size_t skipped = 0;   ///< calls that have no common meaning on other numbers of ranks
};

/// Finds the first call of a run whose results are equal on all ranks by meaning, but differ: of a bcast, an allreduce,
/// an allgather or an allgatherv. The result refers to the run, which must outlive it.
[[nodiscard]] Comparison compare_ranks(const Job& run);
Comparison compare_ranks(const Job&& run) = delete;

/// Finds the first call in which two runs of a program part. Calls of one number are compared, on communicators that
/// have the same place among those of the same rank of MPI_COMM_WORLD. Between runs of one number of ranks, rank by
/// rank; else by the data of the whole call, where they have the same meaning: the result of a bcast, allreduce,
/// allgather(v), reduce or gather(v), the data that gather(v), allgather(v), scatter(v) and bcast take of all ranks
/// together, and the results of scatter(v), reduce_scatter and reduce_scatter_block of all ranks together.
///
/// Of several calls that differ, the first is the one whose difference was there first: in what a rank gives when the
/// call begins, in what it takes when it ends, by the clock of the first run. The result refers to the runs, which must
/// outlive it.
[[nodiscard]] Comparison compare_runs(const Job& one, const Job& other);
Comparison compare_runs(const Job&& one, const Job& other) = delete;
Comparison compare_runs(const Job& one, const Job&& other) = delete;

/// Whether the datatype of the call is known, so that its data have elements.
[[nodiscard]] bool has_elements(const Parting& parting);
/// The elements, or bytes, that have the first difference, from one on, up to another; two zeros if they are not known.
[[nodiscard]] Extent elements_of(const Parting& parting);
/// A sentence on how the runs or the ranks part.
[[nodiscard]] std::string parting_text(const Parting& parting);

}  // namespace tutti::detail::flight
