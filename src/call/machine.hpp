// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <tutti/topology.hpp>

#include "call/cost_model.hpp"
#include "call/costs.hpp"
#include "core/network.hpp"
#include "core/reduction_faults.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

/// The measured times of candidates.
class Measurements {
 public:
  virtual ~Measurements() = default;
  /// The time of a call by the candidate of that name ("shm:slots"), in seconds, if it was measured.
  [[nodiscard]] virtual std::optional<double> seconds(const Signature& signature, std::string_view way) const = 0;
  /// The links that were measured, or null.
  [[nodiscard]] virtual const Links* links() const { return nullptr; }
};

/// The memory that the ranks of each node share, where there are several nodes: as good as on the worst of them.
struct NodeMemory {
  bool is_shared = false;    ///< phases on a node are exchanges over it
  bool single_copy = false;  ///< as in Machine
  bool mapped_copy = false;
};

/// The machine under a communicator, as backends and the planner see it. All facts except the rank are shared by all
/// ranks.
struct Machine {
  int rank = 0;
  int size = 1;
  bool oversubscribed = false;
  bool several_nodes = false;
  bool native_blocking = false;
  bool heartbeat = false;                       ///< ranks of other nodes are watched, and the others go on without one
  bool shared_memory = false;                   ///< all ranks share one verified segment of memory
  bool single_copy = false;                     ///< the kernel lets every rank read and write every other's memory
  bool mapped_copy = false;                     ///< every rank can load and store every other's memory (XPMEM)
  NodeMemory node_memory{};                     ///< of several nodes: between the ranks of each
  const schedules::NodeMap* node_of = nullptr;  ///< the node of each rank; null: one node
  ReductionFaults reduction_faults{};           ///< of the host MPI, on any rank
  bool progress_hook = false;                   ///< the host MPI lets operations go on inside its calls, on all ranks
  Costs costs{};                                ///< calibrated, or else the prior
  Network network{};                            ///< between nodes; the slowest of all ranks'
  std::span<const Place> places{};              ///< the place of each rank; empty: unknown
  const Measurements* measured = nullptr;       ///< on this machine, if there are any
  const Fabric* fabric = nullptr;               ///< in the order of these nodes; null: as it was measured
  LinkLevel on_node = LinkLevel::cache;         ///< the greatest distance between two ranks of one node
  bool device_prepared = false;                 ///< the ranks have agreed on the following facts
  bool device_kernels = false;                  ///< reductions run on the device
  bool cuda_aware = false;                      ///< the MPI takes device addresses
  int nccl_version = 0;                         ///< 0: NCCL is not used
  bool nccl_float8 = true;                      ///< it reduces float8 on the devices of all ranks
};

/// Returns true if nonblocking calls may be messages of several ranks, because shared memory does not carry all of
/// them. The communicator of these messages is then made with the communicator; otherwise the first call that sends any
/// begins to make it.
[[nodiscard]] inline bool sends_from_the_start(const Machine& machine) {
  return !machine.shared_memory || !(machine.single_copy || machine.mapped_copy);
}

/// Returns true if the phases on a node of this call's hierarchical schedules are exchanges over its memory. Only
/// blocking calls: ranks make exchanges in one order, which outstanding calls have not. A piece of another call is one
/// of several that run at once.
[[nodiscard]] inline bool exchanges_on_nodes(const Signature& signature, const NodeMemory& memory) {
  return memory.is_shared && signature.kind == CallKind::blocking && signature.memory == MemoryClass::host &&
         !signature.is_piece;
}

/// A node with that many ranks of a machine of several, as good as the worst of them, for predictions alone: it has no
/// table of measured times.
[[nodiscard]] Machine one_node_of(const Machine& machine, int ranks);

/// What was measured of the network, in the order of a job's nodes. Nothing without measurements.
[[nodiscard]] Fabric fabric_of(const Measurements* measured, const Topology& topology);

/// The links of a machine by level: measured, or else of its costs and its network's family.
[[nodiscard]] Links links_of(const Machine& machine);

/// The same for a call; its operation says whether phases must keep rank order.
[[nodiscard]] schedules::Starts starts_of(const Links& links, const Machine& machine, const Signature& signature);

/// The links between the ranks of a machine, for calls that commute as this one does.
[[nodiscard]] Wiring wiring_of(const Machine& machine, const Signature& signature = {});

}  // namespace tutti::detail
