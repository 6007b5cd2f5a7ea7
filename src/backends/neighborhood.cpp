// SPDX-License-Identifier: BSD-3-Clause
#include "backends/neighborhood.hpp"

#include <optional>
#include <utility>

#include "backends/neighbor_execution.hpp"
#include "call/context.hpp"
#include "operation/call_record.hpp"

namespace tutti::detail {
namespace {

/// The other ranks count on a call that has no fault of its arguments.
template <typename Make>
auto at_turn(Context& context, flight::Call call, const Make& make) {
  try {
    return make();
  } catch (...) {
    break_neighbor_exchange(context, call);
  }
}

}  // namespace

std::shared_ptr<Execution> make_neighbor_exchange(const ContextPtr& context, NeighborExchange&& exchange, CallKind kind,
                                                  const CallOptions& options) {
  return at_turn(*context, exchange.call,
                 [&] { return std::make_shared<NeighborExecution>(context, std::move(exchange), kind, options); });
}

void run_neighbor_exchange(const ContextPtr& context, NeighborExchange&& exchange, const CallOptions& options) {
  std::optional<NeighborExecution> execution;
  at_turn(*context, exchange.call,
          [&] { execution.emplace(context, std::move(exchange), CallKind::blocking, options); });
  run_to_end(*execution);
}

// The ranks of other nodes do not see the memory of this one: they are told by messages.
void break_neighbor_exchange(Context& context, flight::Call call) {
  try {
    context.break_by_exception(flight::call_name(call));
  } catch (...) {
    if (context.node) context.tell_of_failure();
    throw;
  }
}

void refuse_neighbor_exchange(Context& context, flight::Call call) noexcept {
  context.refuse(call);
  if (context.node) context.node->refuse(call);
}

std::string_view neighbor_way(Context& context) noexcept {
  if (sharing_ranks(context) == nullptr) return {};
  return context.node ? "shm:slots+messages" : "shm:slots";
}

}  // namespace tutti::detail
