// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <tutti/topology.hpp>
#include <vector>

#include "planner/candidates.hpp"
#include "planner/planner.hpp"

namespace tutti::tools {

/// A call as it is asked about on the command line.
struct Question {
  std::string operation;
  std::string bytes = "8";
  std::string type = "float32";
  std::string op = "sum";
  std::string kind = "blocking";
  std::string algorithm;
  std::string memory = "host";  ///< or device
  std::string nccl;             ///< version to imagine, "2.28.9", or "none"; empty: as here
  std::string table;            ///< a file of measurements
  int ranks = 0;                ///< 0: those of the job
  int nodes = 0;                ///< 0: those of the job, or 1
  int cores = 0;                ///< processing units of a node; 0: those of this machine
  int root = 0;
  int rank = 0;
  bool reproducible = false;
  bool no_shm = false;
  bool no_single_copy = false;
  bool native_blocking = false;
  bool cuda_aware = false;
  bool no_kernels = false;
};

/// What ranks would agree on for device memory.
struct DeviceFacts {
  bool built = false;  ///< this library knows device memory
  bool kernels = false;
  bool cuda_aware = false;
  int nccl_version = 0;
  std::string nccl_report{};  ///< why there is no NCCL
};

/// What of a job or a machine an answer depends on; asked of MPI and hwloc before, so that answers are pure.
struct Surroundings {
  Topology topology{};
  bool native_blocking = false;
  bool shm = true;
  bool single_copy = true;
  DeviceFacts device{};
  std::shared_ptr<const detail::Measurements> table{};
  std::string table_report{};  ///< where the table is from, or why there is none
  std::string shm_report{};    ///< why ranks share no memory, or what it lacks
  std::string named_by{};      ///< who named an algorithm: "--algorithm"; empty: nobody
};

/// A call, and the machine that it is made on: what the planner takes. Node numbers and table stay where they are.
struct Case {
  Case(detail::Signature what, Surroundings where, int rank);
  [[nodiscard]] int size() const { return static_cast<int>(surroundings.topology.places.size()); }
  [[nodiscard]] detail::Machine machine() const;

  detail::Signature signature{};
  Surroundings surroundings{};
  std::vector<int> node_of;  ///< empty: one node
  int rank = 0;
};

/// The call that a question names. Throws UsageError, which lists the valid names (the most similar first) or says what
/// is wrong with a number.
[[nodiscard]] detail::Signature signature_of(const Question& question, int ranks);

/// `ranks` ranks over `nodes` nodes, in blocks, on nodes with so many processing units; on its node each rank has the
/// caches and the NUMA domain of `pattern`.
[[nodiscard]] Topology imagined_topology(int ranks, int nodes, int cores, const Place& pattern);

/// "allreduce of 1 MiB (262144 float32, sum), blocking, on 8 ranks of 1 node".
[[nodiscard]] std::string call_text(const Case& call);

/// The schedules of all ranks by an algorithm of the mpi backend. The v-forms get blocks of one size.
[[nodiscard]] std::vector<schedules::Schedule> schedules_of(const Case& call, const schedules::Algorithm& algorithm);

}  // namespace tutti::tools
