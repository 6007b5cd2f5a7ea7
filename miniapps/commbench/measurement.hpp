// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::commbench {

/// Medians of the slowest rank, in seconds, as OSU's benchmarks of nonblocking collectives measure them.
struct Overlap {
  double pure = 0;          ///< start and wait with nothing between
  double compute = 0;       ///< computing of that length
  double total = 0;         ///< start, computing, wait
  double percent = 0;       ///< hidden communication
  double tested_total = 0;  ///< the same with tests during the computing
  double tested_percent = 0;
  int tests = 0;
  double probed_total = 0;  ///< the same with calls of MPI_Iprobe in the place of tests
  double probed_wait = 0;   ///< of that in the wait
  double probed_percent = 0;
  int probes = 0;  ///< 0: not measured
};

/// A call and a computation, each alone and both at once: seconds, medians of the slowest rank.
struct Together {
  std::size_t size = 0;        ///< of the computation
  double call = 0;             ///< alone
  double computation = 0;      ///< alone
  double both = 0;             ///< from the start to the end of the wait
  double call_beside = 0;      ///< from the start until a test, or the wait, finds it done
  double computed_beside = 0;  ///< in the parts of the computation
  double percent = 0;          ///< hidden communication, as in Overlap
};

/// Calls one behind the other on a stream, without waiting between them; seconds a call of the slowest rank.
struct Queued {
  double launch = 0;  ///< until the call returns, by the host's clock
  double device = 0;  ///< by the stream's clock, from before the first to behind the last
  double total = 0;   ///< by the host's clock, until the last is done
};

/// What was found of one algorithm at one point; equal on all ranks.
struct Measurement {
  std::string algorithm{};
  std::size_t bytes = 0;          ///< really moved: size as nccl-tests defines it
  int communicators = 1;          ///< on which calls of so many bytes went at once
  std::vector<double> seconds{};  ///< of the slowest rank in each timed iteration
  std::uint64_t checked = 0;      ///< iterations whose results were verified
  std::uint64_t wrong = 0;        ///< results that were wrong, over ranks and iterations
  std::string fault{};            ///< the first of them, with its rank
  std::optional<Overlap> overlap{};
  std::optional<Together> together{};
  std::vector<Queued> queued{};  ///< one a round, of blocking calls on device memory
  std::string skipped{};         ///< why nothing was measured
};

}  // namespace tutti::commbench
