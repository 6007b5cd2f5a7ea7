// SPDX-License-Identifier: BSD-3-Clause
#include "call/backend.hpp"

#include "call/at_turn.hpp"
#include "call/context.hpp"
#include "call/execution.hpp"
#include "call/plan.hpp"
#include "call/progress.hpp"

namespace tutti::detail {

std::shared_ptr<Execution> make_execution(const ContextPtr& context, const PlanPtr& plan, Binding&& binding,
                                          const CallOptions& options) {
  const Backend& backend = *plan->backend;
  Turn turn;
  if (backend.take_turn == nullptr) return plan->make(context, plan, std::move(binding), &turn, options);
  return at_turn(*context, *plan, [&] {
    turn = backend.take_turn(*context, *plan, options.timeout);
    if (!turn.valid() && plan->spare) return make_execution(context, plan->spare, std::move(binding), options);
    return plan->make(context, plan, std::move(binding), &turn, options);
  });
}

Request start_plan(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options) {
  auto begun = plan->make(context, plan, std::move(binding), nullptr, options);
  if (begun == nullptr) {
    options.note.end(flight::State::done);
    return Request(Execution::done());
  }
  begun->keep(options.note);
  return ProgressEngine::instance().launch(std::move(begun));
}

}  // namespace tutti::detail
