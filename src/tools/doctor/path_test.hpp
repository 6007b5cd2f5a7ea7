// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "tools/doctor/pattern.hpp"
#include "tools/doctor/rules.hpp"

namespace tutti::tools::doctor {

/// One call of one size by one way.
struct PathResult {
  Call call = Call::allreduce;
  std::string way{};  ///< "shm:slots", "mpi:ring", "native"; "copy" on one rank
  bool on_device = false;
  std::size_t bytes = 0;
  double seconds = 0;         ///< of a call on the slowest rank; 0: not timed
  double usual = 0;           ///< what its model or a table expects, in seconds; 0: unknown
  std::string problem{};      ///< an error, or a wrong result; empty: right
  bool is_disturbed = false;  ///< other work kept ranks from running: the time says nothing about the path
};

/// All that the test found.
struct PathTests {
  std::vector<PathResult> results{};
  std::string why_not_compared{};  ///< the reason why times are no finding; empty: they are
  std::size_t left = 0;            ///< calls that were not timed, because the budget was spent
};

struct PathEffort {
  std::vector<std::size_t> sizes{8, std::size_t{4} << 10U, std::size_t{1} << 20U};  ///< bytes of a vector or a block
  double slow = 3;     ///< a time of so many times the usual is a finding
  double budget = 20;  ///< for all times, in seconds
};

/// Tests every way to make each call at every size: the result, then the time. `comm` is replaced by a new
/// one after a failure. Collective; the results are the same on all ranks.
[[nodiscard]] PathTests test_paths(Communicator& comm, const Made& made, const PathEffort& effort);

/// Whether a path takes more than its share. A pure function, as the next.
[[nodiscard]] bool is_slow(const PathResult& result, const PathTests& tests, double slow);
/// An error for each way with wrong results; a slow finding for each way that is slower than its model, or one for all
/// of them if they are many; one for all disturbed times.
[[nodiscard]] std::vector<Finding> path_findings(const PathTests& tests, double slow);

}  // namespace tutti::tools::doctor
