// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>

#include "call/context.hpp"
#include "call/neighborhood.hpp"
#include "core/process_watch.hpp"

/// The steps of making a communicator that the factories share.
namespace tutti::detail {

/// Takes a communicator of the library's own, and rank and size from it.
void use_private(Context& context, MPI_Comm comm);

void use_topology(Context& context, Topology topology);

/// Plans by these measurements, in the order of the topology's nodes. Local.
void use_measured(Context& context, std::shared_ptr<const Measurements> measured, std::string report);
/// Collective.
void load_measurements(Context& context);

/// Makes the states of all backends. Collective. All choices here follow from shared facts.
void create_states(Context& context);

/// Whether the host MPI can make communicators late, beside collectives.
[[nodiscard]] bool makes_late();

/// Whether the communicator for messages is made at once: a nonblocking call must post its messages before it returns,
/// and so needs it by then.
[[nodiscard]] bool will_send(const Context& context);

/// The neighbours of this rank in the topology of an MPI communicator; null if it has none. Local.
[[nodiscard]] std::unique_ptr<const Neighbors> read_neighbors(MPI_Comm comm, int rank);

/// Makes a communicator of the ranks of each of several nodes, which this communicator alone uses for phases on a node,
/// and agrees on the memory that they share. Makes none if the ranks of one node share no memory. Collective; all ranks
/// are inside a factory, because it blocks inside the host MPI.
void make_node_part(Context& context);

/// Measures the costs of calls on each node, and takes those of the slowest one for predictions. Collective.
void calibrate_node_parts(Context& context);

/// The connections out of band that the ranks of a new communicator want, equal on all of them.
struct OutOfBand {
  bool heartbeat = false;  ///< ranks that do not see one another's end watch one another
  bool hosts = false;      ///< some rank's watchdog asks other hosts
};

/// Lets processes of several hosts, or of several PID namespaces of one, meet out of band; others need not. Collective,
/// blocking. Returns true if the end of each rank is told to all others.
[[nodiscard]] bool meet_out_of_band(MPI_Comm from, int rank, std::span<const ProcessIdentity> all,
                                    const OutOfBand& wanted);

/// Makes a communicator of the same ranks that returns errors. Copies no attribute, and runs no error handler of
/// `comm` where the host MPI can make communicators of groups (MPI 4). `mark` is equal on all ranks, and another one
/// for each communicator that threads make at the same time. Throws Error(mpi) on all ranks if no context is left.
/// Collective; begins only when all ranks are there, because it blocks inside the host MPI.
[[nodiscard]] MPI_Comm make_private(MPI_Comm comm, std::uint64_t mark);

}  // namespace tutti::detail
