// SPDX-License-Identifier: BSD-3-Clause
#include "backends/staged/pieces.hpp"
#include "backends/staged/staged_execution.hpp"
#include "call/candidates.hpp"
#include "call/context.hpp"
#include "call/costs.hpp"
#include "call/progress.hpp"

namespace tutti::detail {
namespace {

/// The call in host memory that carries a piece of `count` elements.
Signature part_of(const Signature& on_device, std::size_t count) {
  Signature part = on_device;
  part.memory = MemoryClass::host;
  part.is_piece = true;
  part.count = count;
  part.algorithm.clear();
  return part;
}

void add_candidates(Candidates& all) {
  if (!all.on_device()) return;
  const Signature& signature = all.signature();
  const double bytes = bytes_of_call(signature, all.machine().size);
  Candidate c;
  c.name = "staged";
  c.seconds = 2 * (device_costs.copy_seconds + bytes / device_costs.copy_rate) +
              all.best_part(part_of(signature, signature.count)).seconds;
  all.add(std::move(c));
}

void complete(Plan& plan, const Machine& machine) {
  const staged::Cut cut = staged::cut(plan.signature, machine.size);
  plan.pieces = cut.pieces;
  plan.piece = part_of(plan.signature, cut.count);
}

/// A blocking call that leaves at once has its stream wait for a flag, and the progress engine does the rest.
std::shared_ptr<Execution> make(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const Turn* turn,
                                const CallOptions& options) {
  options.note.stamp();
  auto execution =
      std::make_shared<StagedExecution>(context, plan, std::move(binding), options.stream, options.timeout);
  if (turn != nullptr || plan->signature.kind != CallKind::blocking ||
      !leaves_at_once(*plan, options.stream, context->device->device))
    return execution;
  (void)ProgressEngine::instance().launch(execution);
  if (execution->finished()) execution->rethrow();
  return nullptr;
}

}  // namespace

constinit Backend staged_backend{
    .name = "staged", .add_candidates = add_candidates, .complete = complete, .make = make};

}  // namespace tutti::detail
