// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include "backends/native/native_execution.hpp"
#include "call/candidates.hpp"
#include "call/context.hpp"

namespace tutti::detail {
namespace {

/// Returns true if a blocking call may wait inside the host MPI's own collective, where no other operation of Tutti
/// progresses.
bool may_block_inside_mpi(const Signature& signature, const Machine& machine) {
  return signature.kind == CallKind::blocking && machine.native_blocking && !machine.oversubscribed &&
         !signature.has_timeout;
}

/// Without a measurement it is taken to be as fast as the best schedule of messages.
double seconds_of_schedules(const Candidates& all) {
  double least = std::numeric_limits<double>::infinity();
  for (const Carrier carrier : {Carrier::ranks, Carrier::hook, Carrier::host_mpi})
    if (const Candidate* schedule = all.fastest(carrier)) least = std::min(least, schedule->seconds);
  return least == std::numeric_limits<double>::infinity() ? 0 : least;
}

/// Chosen regardless of its time if there is no shared memory: for a nonblocking call of several rounds, because it
/// progresses in every MPI call and a schedule only in Tutti's calls, unless the MPI lets schedules go on inside its
/// calls; and for a blocking call that may wait inside MPI. Not where ranks go on without one that has ended.
bool is_preferred(const Candidates& all) {
  if (all.machine().heartbeat || all.fastest(Carrier::others) != nullptr) return false;
  if (all.signature().kind != CallKind::nonblocking) return may_block_inside_mpi(all.signature(), all.machine());
  const Candidate* schedule = all.fastest();
  return schedule == nullptr || schedule->carrier == Carrier::ranks;
}

std::string why_unwise(const Candidate& native, const Candidates& all) {
  if (all.machine().size == 1) return "one rank: the call is a local copy";
  if (all.machine().heartbeat)
    return "cannot be taken back where a rank ends (TUTTI_HEARTBEAT): its messages would still be received into "
           "buffers";
  if (all.signature().kind == CallKind::blocking && !may_block_inside_mpi(all.signature(), all.machine()))
    return "waits inside MPI: available only by name, or with the option native_blocking and a core for every rank";
  if (native.preferred) return {};
  if (std::string why = all.why_behind_others(native); !why.empty()) return why;
  if (native.measured) return {};
  return "another candidate progresses inside MPI's calls too, and this one was not measured";
}

void add_candidates(Candidates& all) {
  if (all.on_device()) return;
  Candidate c;
  c.name = "native";
  c.carrier = Carrier::host_mpi;
  c.seconds = seconds_of_schedules(all);
  all.measure(c);
  std::string difference = all.machine().size > 1 ? why_native_differs(all.signature(), all.machine()) : std::string();
  if (!difference.empty()) {
    c.forbid(std::move(difference));
  } else {
    c.preferred = all.machine().size > 1 && !c.measured && is_preferred(all);
    c.advise_against(why_unwise(c, all));
  }
  all.add(std::move(c));
}

void run(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options) {
  const bool may_block = context->options.native_blocking && !context->topology.oversubscribed;
  if (may_block && !plan->signature.has_timeout) return run_native_blocking(*context, *plan, binding);
  NativeExecution execution(context, plan, std::move(binding), options.timeout);
  run_to_end(execution);
}

std::shared_ptr<Execution> make(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const Turn* turn,
                                const CallOptions& options) {
  options.note.stamp();
  if (turn != nullptr || plan->signature.kind != CallKind::blocking)
    return std::make_shared<NativeExecution>(context, plan, std::move(binding), options.timeout);
  run(context, plan, std::move(binding), options);
  return nullptr;
}

}  // namespace

constinit Backend native_backend{.name = "native", .add_candidates = add_candidates, .make = make};

}  // namespace tutti::detail
