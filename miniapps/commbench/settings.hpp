// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tutti/options.hpp>
#include <vector>

#include "beside.hpp"
#include "memory.hpp"
#include "point.hpp"
#include "splits.hpp"

namespace tutti::commbench {

enum class Check : std::uint8_t {
  all,     ///< every iteration has data of its own and is verified; this disturbs the caches
  sample,  ///< so are the warm-up and one in every batch of timed iterations
  off,
};

/// The name, among the algorithms, of the host MPI's own collective called without Tutti.
inline constexpr const char* host_mpi = "host-mpi";
/// The name of NCCL's own collective called without Tutti, on device memory.
inline constexpr const char* raw_nccl = "raw-nccl";

/// What is measured, and how. Equal on all ranks.
struct Settings {
  std::vector<Operation> operations;
  std::vector<Traffic> traffic;
  std::vector<Datatype> types;
  std::vector<ReduceKind> ops;
  std::vector<MemorySpace> memory;
  std::vector<Mode> modes;
  std::vector<std::string> algorithms;  ///< as in tutti::Options; also "auto", "all", host_mpi and raw_nccl
  std::size_t low = 4;                  ///< bytes
  std::size_t high = std::size_t{64} << 20U;
  std::size_t factor = 4;
  int root = 0;
  Splits splits{};                                 ///< of the v-forms and of reduce_scatter
  bool in_place = false;                           ///< where the operation has it
  int communicators = 1;                           ///< on which calls go at once
  Accumulation accumulation = Accumulation::full;  ///< of 16- and 8-bit floats
  Check check = Check::sample;
  Reuse reuse = Reuse::reuse;
  std::size_t cold_bytes = 0;  ///< that a rank reads to empty the caches; 0: twice the largest cache over the ranks
  int warm_up = 3;
  int rounds = 3;       ///< in each, all algorithms are measured in turn
  double budget = 0.2;  ///< seconds of calls a point and algorithm, over all rounds
  int min_iterations = 7;
  int max_iterations = 4000;
  bool overlap = true;
  int overlap_tests = 8;
  int overlap_probes = 0;
  Beside beside = Beside::nothing;
  std::size_t beside_size = 0;  ///< 0: takes about as long as the call
  std::string json_file;
  std::string csv_file;
};

}  // namespace tutti::commbench
