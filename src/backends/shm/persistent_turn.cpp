// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/cell_use.hpp"

#include <fmt/format.h>

#include <memory>
#include <tutti/error.hpp>
#include <utility>

#include "backends/shm/arena.hpp"
#include "backends/shm/lines.hpp"
#include "backends/shm/task.hpp"

namespace tutti::detail::shm {
namespace {

/// The call by which ranks tell which cells they hold, by lines.
Plan plan_of_question(const Arena::Owners& held) {
  Plan plan;
  plan.signature.operation = Operation::allreduce;
  plan.signature.type = DatatypeOf<Arena::Owners::value_type>::value;
  plan.signature.op = ReduceKind::max;
  plan.signature.count = held.size();
  plan.protocol = static_cast<std::uint8_t>(Protocol::line);
  plan.digest = digest_of(plan.signature, plan.protocol);
  return plan;
}

Arena::Owners held_by_any(Context& context, Arena& arena, std::chrono::nanoseconds timeout) {
  const Arena::Owners mine = arena.held();
  Arena::Owners any{};
  Binding binding;
  binding.input = mine.data();
  binding.output = any.data();
  binding.op = ReduceKind::max;
  const auto plan = std::make_shared<const Plan>(plan_of_question(mine));
  const Turn turn = arena.next_ordered(plan->digest);
  const ContextPtr unowned(std::shared_ptr<void>(), &context);
  TaskBy<Lines> execution(unowned, plan, std::move(binding), turn, timeout);
  try {
    run_to_end(execution);
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("a persistent call asks which memory the ranks have given back: {}", e.what()));
  }
  return any;
}

}  // namespace

Turn take_persistent_turn(Context& context, std::uint64_t digest, std::chrono::nanoseconds timeout) {
  Arena& arena = arena_of(context);
  arena.add_to_history(digest);
  // Other ranks may still hold cells that this rank has released.
  if (!arena.has_cells_to_give()) arena.note_held(held_by_any(context, arena, timeout));
  return {arena.acquire_persistent(), digest};
}

}  // namespace tutti::detail::shm
