// SPDX-License-Identifier: BSD-3-Clause

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "call/agreement.hpp"
#include "call/late_communicator.hpp"
#include "communicator/group.hpp"
#include "communicator/steps.hpp"
#include "core/config.hpp"
#include "core/hash.hpp"
#include "core/mpi_call.hpp"
#include "planner/calibration.hpp"
#include "planner/planner.hpp"
#include "topology/discover.hpp"

namespace tutti::detail {
namespace {

/// The memory that the ranks of each node share, as good as on the worst node. Collective.
NodeMemory agree_on_memory(const Context& context) {
  const bool is_alone = !context.node;
  const Machine machine = is_alone ? Machine{} : context.node->machine();
  const auto [shares, single, mapped] = all_agree_on<3>(
      context.point_to_point,
      {is_alone || machine.shared_memory, is_alone || machine.single_copy, is_alone || machine.mapped_copy});
  return {shares != 0, single != 0, mapped != 0};
}

}  // namespace

void make_node_part(Context& context) {
  if (context.topology.nodes == 1 || context.topology.nodes == context.size || !config().shared_memory) return;
  const int node = context.node_of.node(context.rank);
  const bool is_alone = context.topology.ranks_per_node[static_cast<std::size_t>(node)] == 1;
  MPI_Comm part = MPI_COMM_NULL;
  const int code = MPI_Comm_split(context.point_to_point, is_alone ? MPI_UNDEFINED : node, context.rank, &part);
  if (code != MPI_SUCCESS) throw_no_communicator("the part of a communicator on a node", mpi_text(code));
  if (!is_alone) {
    CommunicatorOptions options = context.options;
    options.check = CheckMode::off;
    options.name = fmt::format("{}{}node {}", options.name, options.name.empty() ? "" : ", ", node);
    auto state = std::make_shared<Context>(options);
    use_private(*state, part);
    state->peers.watch(context.peers, ranks_in(context.point_to_point, part));
    state->mark = Hash().add(context.mark).add(node).value();
    state->make_plan = make_plan;
    state->reduction_faults = context.reduction_faults;
    state->costs = context.costs;
    use_topology(*state, restrict_topology(context.topology, context.point_to_point, part));
    load_measurements(*state);
    create_states(*state);
    if (will_send(*state)) state->make_messages();
    context.node = std::move(state);
  }
  context.node_memory = agree_on_memory(context);
  if (!context.node_memory.is_shared) context.node.reset();
}

void calibrate_node_parts(Context& context) {
  if (context.node) tuning::calibrate(*context.node);
  std::array<double, named_costs.size()> numbers{};
  for (std::size_t i = 0; i < numbers.size() && context.node; ++i)
    numbers[i] = context.node->costs.*named_costs[i].value;
  take_greatest(context, numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] > 0) context.costs.*named_costs[i].value = numbers[i];
  context.costs_report = "the greatest of all nodes' calibrations";
}

}  // namespace tutti::detail
