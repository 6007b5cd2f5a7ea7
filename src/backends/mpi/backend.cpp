// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <limits>
#include <optional>

#include "backends/mpi/calibrate.hpp"
#include "backends/mpi/device_schedule_execution.hpp"
#include "backends/mpi/schedule_execution.hpp"
#include "call/at_turn.hpp"
#include "call/candidates.hpp"
#include "call/context.hpp"
#include "call/costs.hpp"
#include "call/schedule_rules.hpp"

namespace tutti::detail {
namespace {

using schedules::Algorithm;

Candidate named_after(const Algorithm& algorithm) {
  Candidate c;
  c.algorithm = &algorithm;
  c.carries_parts = true;
  c.name = fmt::format("mpi:{}", algorithm.name);
  c.seconds = std::numeric_limits<double>::infinity();
  return c;
}

/// A rank that makes no calls delays the others if its calls post the rounds after the first, or all rounds, because
/// the communicator of the messages may have to be made first.
Carrier carrier_of(const Algorithm& algorithm, const Machine& machine) {
  const Carrier by_itself = machine.progress_hook ? Carrier::hook : Carrier::ranks;
  if (!sends_from_the_start(machine)) return by_itself;
  return cost_of(algorithm, machine.size, 1.0).rounds > 1 ? by_itself : Carrier::host_mpi;
}

/// The reason why a schedule is not chosen for a call that must go on while a rank is inside the host MPI, whatever was
/// measured, or unless it was measured as faster.
std::string why_not_away(const Candidate& schedule, const Candidates& all) {
  if (all.signature().kind == CallKind::blocking) return {};
  if (schedule.carrier == Carrier::hook) return all.why_behind_others(schedule);
  if (schedule.carrier != Carrier::ranks || all.fastest(Carrier::others) == nullptr) return {};
  return "its rounds need calls on every rank, but shared memory progresses while a rank is away; available only by "
         "name";
}

/// The reason why a correct schedule is available only by name.
std::string why_unwise(const Candidate& schedule, const Candidates& all) {
  const Algorithm& algorithm = *schedule.algorithm;
  if (std::string why = why_too_many_ranks(algorithm, all.machine().size); !why.empty()) return why;
  if (std::string why = why_not_away(schedule, all); !why.empty()) return why;
  if (!algorithm.hierarchical) return {};
  const schedules::Spread& spread = all.wiring().spread;
  if (spread.nodes == 1) return "one node: nothing to compose; available only by name";
  if (spread.most == 1) return "one rank per node: nothing to compose; available only by name";
  return {};
}

void add_on_host(Candidates& all, const Algorithm& algorithm) {
  Candidate c = named_after(algorithm);
  if (std::string why = why_wrong(algorithm, all.signature(), all.wiring().spread); !why.empty())
    c.forbid(std::move(why));
  if (algorithm.tells_counts && !exchanges_on_nodes(all.signature(), all.machine().node_memory))
    c.forbid("needs several nodes whose ranks share memory, and a blocking call");
  if (schedules::fits(algorithm, all.machine().size)) {
    c.carrier = carrier_of(algorithm, all.machine());
    c.seconds = all.predicted(algorithm);
    all.measure(c);
    if (c.can_be_chosen()) c.advise_against(why_unwise(c, all));
  }
  all.add(std::move(c));
}

std::string why_no_kernels(const Signature& signature, const Machine& machine) {
  if (!tutti::combines(signature.operation)) return {};
  if (signature.op == ReduceKind::user) return "a user's operation runs on the host";
  if (!machine.device_kernels) return "this build has no kernels for the device, because nvcc was not found";
  return {};
}

std::string why_not_on_device(const Algorithm& algorithm, const Candidates& all) {
  if (!all.machine().device_prepared) return "the communicator is not prepared for device memory; call prepare_device";
  if (std::string why = why_wrong(algorithm, all.signature(), all.wiring().spread); !why.empty()) return why;
  return why_no_kernels(all.signature(), all.machine());
}

void add_on_device(Candidates& all, const Algorithm& algorithm) {
  Candidate c = named_after(algorithm);
  if (std::string why = why_not_on_device(algorithm, all); !why.empty()) {
    c.forbid(std::move(why));
  } else {
    const double rounds = cost_of(algorithm, all.machine().size, 1.0).rounds;
    c.seconds = all.predicted(algorithm) + device_costs.launch_seconds * (1 + 2 * rounds);
    c.advise_against(why_too_many_ranks(algorithm, all.machine().size));
    if (c.can_be_chosen() && !all.machine().cuda_aware)
      c.advise_against("the MPI does not take device memory, so each message would be copied; available only by name");
  }
  all.add(std::move(c));
}

void add_candidates(Candidates& all) {
  const auto add = all.on_device() ? add_on_device : add_on_host;
  const Operation operation = all.signature().operation;
  for (const Algorithm& algorithm : schedules::algorithms_of(operation)) add(all, algorithm);
  if (all.on_device() && !all.machine().several_nodes) return;
  for (const Algorithm& algorithm : schedules::hierarchical_algorithms_of(operation)) add(all, algorithm);
}

Turn take_tag(Context& context, const Plan& plan, std::chrono::nanoseconds /*timeout*/) {
  context.need_messages();
  return {plan.signature.kind == CallKind::persistent ? context.next_persistent_tag() : context.next_tag()};
}

/// A blocking call on host memory needs no execution on the heap.
void run(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options) {
  std::optional<ScheduleExecution> execution;
  at_turn(*context, *plan,
          [&] { execution.emplace(context, plan, std::move(binding), context->next_tag(), options.timeout); });
  run_to_end(*execution);
}

std::shared_ptr<Execution> make(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const Turn* turn,
                                const CallOptions& options) {
  const bool on_device = plan->signature.memory == MemoryClass::device;
  if (turn == nullptr) {
    options.note.stamp();
    if (on_device || plan->signature.kind != CallKind::blocking)
      return make_execution(context, plan, std::move(binding), options);
    run(context, plan, std::move(binding), options);
    return nullptr;
  }
  const int tag = static_cast<int>(turn->number);
  if (on_device)
    return std::make_shared<DeviceScheduleExecution>(context, plan, std::move(binding), tag, options.stream,
                                                     options.timeout);
  return std::make_shared<ScheduleExecution>(context, plan, std::move(binding), tag, options.timeout);
}

/// It owns nothing of a communicator, whose tags and messages are the Context's.
class State final : public BackendState {
 public:
  void calibrate(Context& context, Costs& costs, Calibration kind) override {
    calibrate_messages(context, costs, kind);
  }
};

std::unique_ptr<BackendState> create_state(Context& /*context*/, std::string& /*report*/) {
  return std::make_unique<State>();
}

}  // namespace

constinit Backend mpi_backend{.name = "mpi",
                              .add_candidates = add_candidates,
                              .complete = add_schedule,
                              .take_turn = take_tag,
                              .make = make,
                              .create_state = create_state};

}  // namespace tutti::detail
