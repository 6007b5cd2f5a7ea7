// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/steps.hpp"

#include <string>
#include <utility>

#include "backends/list.hpp"
#include "call/late_communicator.hpp"
#include "core/host_mpi.hpp"
#include "core/mpi_call.hpp"
#include "planner/files.hpp"

namespace tutti::detail {

void use_private(Context& context, MPI_Comm comm) {
  context.point_to_point = comm;
  count_private(1);
  int* upper = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_rank(comm, &context.rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &context.size), "MPI_Comm_size");
  check_mpi(MPI_Comm_get_attr(comm, MPI_TAG_UB, static_cast<void*>(&upper), &found), "MPI_Comm_get_attr");
  if (found != 0) context.tag_half = (*upper - 1) / 2;
}

void use_topology(Context& state, Topology topology) {
  state.topology = std::move(topology);
  state.node_of = schedules::NodeMap(nodes_of(state.topology));
  state.on_node = level_on_node(state.topology);
}

void use_measured(Context& context, std::shared_ptr<const Measurements> measured, std::string report) {
  context.measured = std::move(measured);
  context.measured_report = std::move(report);
  context.fabric = fabric_of(context.measured.get(), context.topology);
}

void load_measurements(Context& context) {
  std::string report;
  auto table = tuning::load_table(context.point_to_point, context.topology, report);
  use_measured(context, std::move(table), std::move(report));
}

void create_states(Context& context) {
  for (const Backend* backend : backends()) {
    if (backend->create_state == nullptr) continue;
    std::string report;
    auto state = backend->create_state(context, report);
    context.set_state(*backend, std::move(state), std::move(report));
  }
}

/// Open MPI 4.1.4 takes messages of MPI_Comm_idup for those of a collective begun meanwhile.
bool makes_late() { return !host_is_open_mpi(); }

bool will_send(const Context& context) {
  return !makes_late() || context.neighbors != nullptr || sends_from_the_start(context.machine());
}

}  // namespace tutti::detail
