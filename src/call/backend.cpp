// SPDX-License-Identifier: BSD-3-Clause
#include "call/backend.hpp"

#include "call/at_turn.hpp"
#include "call/context.hpp"
#include "call/progress.hpp"

namespace tutti::detail {

std::shared_ptr<Execution> make_execution(const ContextPtr& context, const PlanPtr& plan, Binding&& binding,
                                          const CallOptions& options) {
  const Backend& backend = *plan->backend;
  if (backend.take_turn == nullptr) return backend.make(context, plan, std::move(binding), {}, options);
  return at_turn(*context, *plan, [&] {
    const Turn turn = backend.take_turn(*context, *plan, options.timeout);
    if (!turn.valid() && plan->spare) return make_execution(context, plan->spare, std::move(binding), options);
    return backend.make(context, plan, std::move(binding), turn, options);
  });
}

Request request_of(std::shared_ptr<Execution> begun, const CallOptions& options) {
  if (begun == nullptr) {
    options.note.end(flight::State::done);
    return Request(Execution::done());
  }
  begun->keep(options.note);
  return ProgressEngine::instance().launch(std::move(begun));
}

Request start_plan(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options) {
  const auto begin = plan->backend->begin;
  return request_of(begin == nullptr ? make_execution(context, plan, std::move(binding), options)
                                     : begin(context, plan, std::move(binding), options),
                    options);
}

void run_plan(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options) {
  if (plan->backend->run != nullptr) return plan->backend->run(context, plan, std::move(binding), options);
  run_to_end(*make_execution(context, plan, std::move(binding), options));
}

}  // namespace tutti::detail
