// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tutti/topology.hpp>
#include <vector>

#include "tools/network_view.hpp"
#include "topology/hardware.hpp"

/// `tutti doctor`: facts about a job and its machine, the findings that follow from them, and a test of every path.
namespace tutti::tools::doctor {

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// /dev/shm as one process sees it.
struct SharedMemory {
  bool exists = false;
  bool is_read_only = false;
  std::uint64_t free_bytes = 0;
  std::uint64_t all_bytes = 0;
  std::uint64_t file_system = 0;  ///< number of its device: equal where processes see the same one
  std::string problem{};          ///< the reason why a trial failed to reserve a rank's memory; empty if it worked
};

/// Limits of one process and of the control groups that it is in: bytes, and descriptors.
struct Limits {
  std::uint64_t file_bytes = unlimited;        ///< ulimit -f
  std::uint64_t address_bytes = unlimited;     ///< ulimit -v
  std::uint64_t locked_bytes = unlimited;      ///< ulimit -l
  std::uint64_t descriptors = unlimited;       ///< ulimit -n
  std::uint64_t open_descriptors = 0;          ///< before a communicator of Tutti is made
  std::uint64_t group_bytes = unlimited;       ///< memory of its control group
  std::uint64_t group_free_bytes = unlimited;  ///< the part of it that is not in use
  double group_cores = 0;                      ///< processor time per time that its control group may use; 0: no limit
};

/// Walls between processes.
struct Walls {
  std::string processes{};  ///< name of the PID namespace
  std::string ipc{};
  std::int64_t user = 0;
  int ptrace_scope = -1;   ///< of Yama; -1: the kernel has no Yama
  int seccomp = 0;         ///< mode; 2: a filter
  bool may_trace = false;  ///< has CAP_SYS_PTRACE
};

/// Processing units and their settings.
struct Processor {
  std::vector<int> units{};  ///< where this process may run, by the numbers of the system
  std::vector<int> cores{};  ///< of each of them: the lowest unit of its core
  std::string governor{};    ///< of the first unit; empty: unknown
  std::string clock{};       ///< source of the kernel's clock
  std::string huge_pages{};  ///< transparent ones: always, madvise or never
};

/// CUDA and NCCL as one process finds them.
struct Device {
  bool is_built = false;  ///< this library was built for device memory
  int count = 0;
  int current = 0;
  std::string name{};
  std::string bus_id{};  ///< "0000:17:00.0", of the current one
  int driver_version = 0;
  int runtime_version = 0;
  int nccl_version = 0;
  std::string nccl_problem{};
  std::string problem{};  ///< CUDA's own text, if it failed
};

/// All facts that one rank knows.
struct RankFacts {
  std::string host{};
  SharedMemory shm{};
  Limits limits{};
  Walls walls{};
  Processor processor{};
  Device device{};
  std::map<std::string, std::string> variables{};  ///< those TUTTI_... that are set
  std::vector<std::string> doubts{};               ///< lines on variables that nobody reads
  int thread_level = 0;                            ///< as ThreadLevel
  std::string hardware{};                          ///< of the first rank of a node, as JSON (tools/topo.hpp)
  std::string network{};                           ///< the same of its groups (tools/network_view.hpp)
};

/// Another MPI's launcher, which started processes that do not know of one another.
struct ForeignLauncher {
  std::string name{};  ///< empty: none
  std::string variable{};
  int processes = 0;
};

/// The communicator of all ranks, if it could be made.
struct Made {
  bool is_made = false;
  std::string problem{};  ///< the error of the lowest rank that has one
  bool shared_memory = false;
  bool single_copy = false;  ///< by the kernel, or by XPMEM
  std::string shm_report{};
  std::string costs_report{};
  bool progress_hook = false;
  std::string progress_report{};
  bool device_prepared = false;
  bool cuda_aware = false;
  int nccl_version = 0;
  std::string device_report{};
};

/// A table of measured times.
struct Tuning {
  enum class Status { none, found, refused };
  Status status = Status::none;
  std::string report{};
};

/// All facts about a job. The rules are functions of it.
struct Job {
  std::string mpi{};  ///< first line of the MPI's own version
  ForeignLauncher launcher{};
  Topology topology{};
  std::vector<RankFacts> ranks{};
  detail::Hardware hardware{};
  NetworkView network{};
  Made made{};
  Tuning tuning{};

  [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
};

/// The facts of this process. Local; uses MPI only if it is initialised. Throws nothing but bad_alloc.
[[nodiscard]] RankFacts facts_of_this_process();
/// /dev/shm alone, which matters before MPI starts.
[[nodiscard]] SharedMemory shared_memory_here();
/// Limits of this process and of its control groups.
[[nodiscard]] Limits limits_here();
[[nodiscard]] Walls walls_here();
[[nodiscard]] Processor processor_here();
[[nodiscard]] Device device_here();

/// To and from JSON, for ranks to send to rank 0 and for programs.
[[nodiscard]] std::string facts_to_json(const RankFacts& facts);
[[nodiscard]] RankFacts facts_from_json(const std::string& text);

}  // namespace tutti::tools::doctor
