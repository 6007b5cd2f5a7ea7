// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "call/plan.hpp"
#include "communicator/comm_state.hpp"
#include "planner/cost_model.hpp"
#include "planner/table.hpp"

namespace tutti::detail {

/// What the planner knows of the machine under a communicator: shared facts only.
struct Machine {
  int rank = 0;
  int size = 1;
  bool oversubscribed = false;
  bool several_nodes = false;
  bool native_blocking = false;
  bool shm = false;                      ///< all ranks share one verified segment of memory
  bool single_copy = false;              ///< the kernel lets every rank read and write every other's memory
  std::span<const int> node_of{};        ///< the node of each rank; empty: one node
  const tuning::Table* table = nullptr;  ///< measured on this machine, where there is such a table
  LinkLevel on_node = LinkLevel::cache;  ///< the farthest that two ranks of one node are apart
  bool device_prepared = false;          ///< the ranks have agreed on what follows
  bool device_kernels = false;           ///< reductions run on the device
  bool cuda_aware = false;               ///< the MPI takes device addresses
  int nccl_version = 0;                  ///< 0: NCCL is not used
};

/// One way to make a call, and what is known of it.
struct Candidate {
  Backend backend = Backend::mpi;
  shm::Protocol protocol = shm::Protocol::automatic;
  const schedules::Algorithm* algorithm = nullptr;
  std::string name{};  ///< "shm:slots", "mpi:ring", "native"
  double seconds = 0;  ///< of a call: measured, else predicted
  bool measured = false;
  std::string excluded{};  ///< why it is not chosen here by itself; empty where it can be
  bool nameable = true;    ///< whether a call may ask for it by name; where not, `excluded` says why
  bool preferred = false;  ///< before all others whatever it takes: see candidates()
};

/// Every way to make a call: those that can be chosen first; of these, measured ones before others, since measured and
/// predicted times do not compare, and the fastest before the others. A pure function.
///
/// The host MPI's own collective is preferred, without regard to its time, where there is no shared memory and it was
/// not measured: for a nonblocking call of several rounds, since it goes on in every MPI call and a schedule only in
/// Tutti's; and for a blocking call that may wait inside MPI. Where shared memory can make the call, it is a candidate
/// only if it was measured; and a nonblocking or persistent call is made by no schedule of several rounds, for a rank
/// may be inside the host MPI until the others are done.
[[nodiscard]] std::vector<Candidate> candidates(const Signature& signature, const Machine& machine);

/// The same for device memory: NCCL goes before all else where it can make the call as it is asked for, since the call
/// then stays on the stream; then whichever of schedules on device memory (where the MPI takes it) and staging through
/// host memory is predicted to be faster. Before the communicator is prepared there is only staging.
[[nodiscard]] std::vector<Candidate> device_candidates(const Signature& signature, const Machine& machine);

/// The way in host memory that a call on device memory is staged over: shared memory or a schedule, never the host
/// MPI's own, whose order among other calls would not be kept. `count` is that of the piece.
[[nodiscard]] Signature host_signature(const Signature& device_signature, std::size_t count);
[[nodiscard]] Candidate host_candidate(const Signature& device_signature, std::size_t count, const Machine& machine);

/// How the ranks of a machine are linked.
[[nodiscard]] Wiring wiring_of(const Machine& machine);

/// Chosen first: what is not excluded; of that what is preferred, then what was measured, then the fastest.
void sort_candidates(std::vector<Candidate>& all);

/// Why a schedule does not give the call's result for that many ranks, whatever runs it; empty where it does.
[[nodiscard]] std::string why_wrong(const schedules::Algorithm& algorithm, const Signature& signature,
                                    const schedules::Spread& spread);

/// The machine under a communicator. Keeps views of it.
[[nodiscard]] Machine machine_of(const CommState& comm);

/// Whether each element must be combined in one step in rank order: reproducible mode, and 16- and 8-bit floats that
/// are to be rounded once.
[[nodiscard]] bool needs_single_combine(const Signature& signature);

/// Whether a blocking call may wait inside the host MPI's own collective, where nothing else of Tutti goes on.
[[nodiscard]] bool may_block_inside_mpi(const Signature& signature, const Machine& machine);

/// Chooses backend and algorithm. A pure function of shared facts but for the rank, which only selects this rank's part
/// of the schedule. Signature::algorithm may name a backend ("shm", "mpi", "native": its fastest way here) or one way
/// ("shm:slots", "mpi:ring", "ring"). With one rank every name means a local copy. Throws invalid_algorithm, with the
/// valid names, where a named one does not exist or cannot do what is asked.
[[nodiscard]] std::shared_ptr<const Plan> make_plan(const Signature& signature, const Machine& machine);

}  // namespace tutti::detail
