// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// Alternating measurements over the processes of MPI_COMM_WORLD, which only start together: they exchange no data.
namespace tutti::kernelbench {

struct Candidate {
  std::string name;
  std::function<void(int round)> run;
};

/// Median seconds of each candidate. In a round every candidate runs once after a barrier; its time is that of the
/// slowest process. Two rounds warm up.
inline std::vector<double> measure(const std::vector<Candidate>& candidates, int rounds) {
  constexpr int warm_up = 2;
  std::vector<std::vector<double>> times(candidates.size());
  for (int round = 0; round < rounds + warm_up; ++round) {
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      MPI_Barrier(MPI_COMM_WORLD);
      const auto start = std::chrono::steady_clock::now();
      candidates[c].run(round);
      double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (round >= warm_up) times[c].push_back(seconds);
    }
  }
  std::vector<double> medians;
  for (auto& list : times) {
    std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2), list.end());
    medians.push_back(list[list.size() / 2]);
  }
  return medians;
}

}  // namespace tutti::kernelbench
