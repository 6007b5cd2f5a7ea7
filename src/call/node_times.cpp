// SPDX-License-Identifier: BSD-3-Clause
#include "call/node_times.hpp"

#include <algorithm>

#include "call/candidates.hpp"

namespace tutti::detail {

double NodeTimes::seconds(const schedules::NodeCost& exchange, int ranks) {
  if (!node_) node_ = one_node_of(machine_, ranks);
  Signature call;
  call.operation = exchange.operation;
  call.type = signature_.type;
  call.op = signature_.op == ReduceKind::user ? ReduceKind::sum : signature_.op;
  call.commutative = signature_.commutative || !tutti::combines(exchange.operation);
  const double blocks = tutti::has_equal_blocks(exchange.operation) ? ranks : 1;
  call.count = static_cast<std::size_t>(exchange.bytes / blocks / static_cast<double>(signature_.type.size()));
  const auto found = std::ranges::find_if(
      known_, [&call](const Known& known) { return known.operation == call.operation && known.count == call.count; });
  if (found != known_.end()) return found->seconds;
  known_.push_back({call.operation, call.count, asked(call)});
  return known_.back().seconds;
}

double NodeTimes::asked(const Signature& exchange) const {
  const std::vector<Candidate> ways = candidates_of_(exchange, *node_);
  const auto best = std::ranges::min_element(ways, precedes);
  return best == ways.end() || !best->can_be_chosen() ? 0 : best->seconds;
}

}  // namespace tutti::detail
