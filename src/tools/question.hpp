// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <tutti/topology.hpp>
#include <vector>

#include "planner/candidates.hpp"
#include "planner/planner.hpp"

namespace tutti::tools {

/// A call as the command line describes it.
struct Question {
  std::string operation;
  std::string bytes = "8";
  std::string type = "float32";
  std::string op = "sum";
  std::string kind = "blocking";
  std::string algorithm;
  std::string memory = "host";  ///< or device
  std::string nccl;             ///< version to assume, "2.28.9", or "none"; empty: the one here
  std::string table;            ///< a file of measurements
  int ranks = 0;                ///< 0: the ranks of the job
  int nodes = 0;                ///< 0: the nodes of the job, or 1
  int cores = 0;                ///< processing units of a node; 0: as on this machine
  std::string groups;           ///< nodes of each group of the network, "32,8"; empty: unknown
  int root = 0;
  int rank = 0;
  bool reproducible = false;
  bool no_shm = false;
  bool no_single_copy = false;
  bool progress_hook = false;
  bool no_progress_hook = false;
  bool native_blocking = false;
  bool cuda_aware = false;
  bool no_kernels = false;
};

/// The facts about device memory on which ranks would agree.
struct DeviceFacts {
  bool built = false;  ///< this library was built for device memory
  bool kernels = false;
  bool cuda_aware = false;
  int nccl_version = 0;
  std::string nccl_report{};  ///< why there is no NCCL
};

/// The facts about a job or a machine on which an answer depends. They are asked of MPI and hwloc beforehand, so that
/// answers are pure functions.
struct Surroundings {
  Topology topology{};
  bool native_blocking = false;
  bool shm = true;
  bool single_copy = true;
  bool mapped_copy = false;
  bool progress_hook = false;
  DeviceFacts device{};
  std::shared_ptr<const detail::Measurements> table{};
  std::string table_report{};     ///< the source of the table, or the reason why there is none
  detail::Costs costs{};          ///< by which the models predict
  std::string costs_report{};     ///< their origin
  detail::Network network{};      ///< between nodes, if links were not measured
  std::string shm_report{};       ///< the reason why ranks share no memory, or only in part
  std::string progress_report{};  ///< by which function the MPI lets operations go on, or why it does not
  std::string named_by{};         ///< the option that named an algorithm, "--algorithm"; empty: none
};

/// A call and the machine on which it is made, as the planner takes them. Node numbers and table stay in place.
struct Case {
  Case(detail::Signature what, Surroundings where, int rank);
  [[nodiscard]] int size() const { return static_cast<int>(surroundings.topology.places.size()); }
  [[nodiscard]] detail::Machine machine() const;

  detail::Signature signature{};
  Surroundings surroundings{};
  schedules::NodeMap node_of;  ///< empty: one node
  detail::Fabric fabric{};     ///< in the order of the nodes
  std::size_t block = 1;       ///< elements of each block of a v-form whose sizes the planner does not know
  int rank = 0;
};

/// The elements of the vector or the block that a question names. Throws UsageError if its bytes are no whole elements.
[[nodiscard]] std::size_t elements_of(const Question& question, Datatype type);

/// The call that a question names. Throws UsageError, which lists the valid names, the most similar first, or explains
/// why a number is invalid.
[[nodiscard]] detail::Signature signature_of(const Question& question, int ranks);

/// A topology of `ranks` ranks in blocks over `nodes` nodes with `cores` processing units each. Every rank has the
/// caches and the NUMA domain of `pattern` on its node.
[[nodiscard]] Topology imagined_topology(int ranks, int nodes, int cores, const Place& pattern);

/// Groups of so many nodes one after the other, the largest first: "32,8". Throws UsageError unless each number is a
/// divisor of the one before.
[[nodiscard]] std::vector<std::vector<int>> imagined_groups(const std::string& sizes, int nodes);

/// The groups of the network that the nodes lie in: what names them, and for each level the number of groups and of the
/// nodes of the largest.
[[nodiscard]] std::string network_text(const Topology& topology);

/// The links by which messages are predicted, in words: their origin, and the figures of the levels at hand.
[[nodiscard]] std::string links_text(const Case& call);

/// "allreduce of 1 MiB (262144 float32, sum), blocking, on 8 ranks of 1 node".
[[nodiscard]] std::string call_text(const Case& call);

/// The schedule of one rank by an algorithm of the mpi backend. The v-forms get blocks of equal size.
[[nodiscard]] schedules::Schedule schedule_of(const Case& call, const schedules::Algorithm& algorithm, int rank);

/// The schedules of all ranks by an algorithm of the mpi backend. The v-forms get blocks of equal size.
[[nodiscard]] std::vector<schedules::Schedule> schedules_of(const Case& call, const schedules::Algorithm& algorithm);

/// The surroundings of this job, if it has several ranks and the question names no ranks or nodes; else those of an
/// imagined job on nodes like this one. Ranks share memory as in this job, or as `no_shm` and `no_single_copy` say. The
/// table is that of `--table`, else the one that a communicator would find. Throws UsageError for impossible numbers,
/// and Error for an unusable table. Collective over MPI_COMM_WORLD.
[[nodiscard]] Surroundings surroundings_of(const Question& question);

}  // namespace tutti::tools
