// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/contexts.hpp"

#include <algorithm>

#include "call/agreement.hpp"
#include "call/cost_model.hpp"
#include "simulation/handles.hpp"

namespace tutti::simulation {

std::shared_ptr<detail::Context> begin_context(const Members& members, int rank, const CommunicatorOptions& options) {
  const std::vector<int>& ranks = members.ranks;
  auto context = std::make_shared<detail::Context>(options);
  context->rank = static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
  context->size = static_cast<int>(ranks.size());
  context->point_to_point = handle_of<MPI_Comm>(members.library);
  context->user = handle_of<MPI_Comm>(members.caller);
  context->topology = members.machine.topology_of(ranks);
  context->node_of = detail::nodes_of(context->topology);
  context->on_node = detail::level_on_node(context->topology);
  return context;
}

}  // namespace tutti::simulation
