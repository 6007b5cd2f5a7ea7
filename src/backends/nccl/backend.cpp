// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/nccl/nccl_execution.hpp"
#include "backends/nccl/puts.hpp"
#include "backends/nccl/rules.hpp"
#include "backends/nccl/state.hpp"
#include "backends/nccl/table.hpp"
#include "call/candidates.hpp"
#include "call/context.hpp"
#include "call/costs.hpp"
#include "call/progress.hpp"
#include "call/schedule_rules.hpp"

namespace tutti::detail {
namespace {

using schedules::Algorithm;

std::string why_no_nccl(const Machine& machine) {
  if (!machine.device_prepared) return "the communicator is not prepared for device memory; call prepare_device";
  if (machine.nccl_version == 0) return "NCCL is not used here; see device_report";
  return {};
}

Candidate direct(const Candidates& all) {
  const Machine& machine = all.machine();
  Candidate c;
  c.name = "nccl:direct";
  c.seconds = device_costs.launch_seconds + bytes_of_call(all.signature(), machine.size) / device_costs.fabric_rate;
  if (std::string why = why_no_nccl(machine); !why.empty())
    c.forbid(std::move(why));
  else if (!nccl::is_direct(all.signature(), machine.nccl_version))
    c.forbid("NCCL lacks this collective, or its result differs");
  else if (!machine.nccl_float8 && nccl::reduces_float8(all.signature()))
    c.forbid("NCCL reduces float8 on devices of compute capability 9.0 and more");
  // The call then stays on the stream, whatever the models say.
  c.preferred = c.can_be_chosen();
  return c;
}

/// By NCCL's own collective, in the way that its name tells NCCL.
Candidate told(std::string_view way, const Candidate& direct, const Machine& machine) {
  Candidate c = direct;
  c.preferred = false;
  c.protocol = static_cast<std::uint8_t>(nccl::Form::told);
  c.name = fmt::format("nccl:{}", way);
  if (!direct.can_be_chosen())
    c.seconds = std::numeric_limits<double>::infinity();  // behind a schedule of that name
  else if (machine.nccl_version < nccl::version_of_call_config)
    c.forbid(fmt::format("NCCL is told so for one call from version 2.31 on, and this is {}; {} asks for it for all",
                         nccl::version_text(machine.nccl_version),
                         way == nccl::zero_ctas ? "NcclOptions::cta_policy" : "the variable NCCL_ALGO"));
  else
    c.advise_against("NCCL chooses itself; available only by name");
  return c;
}

double rate(const Machine& machine) {
  return machine.several_nodes ? device_costs.network_rate : device_costs.fabric_rate;
}

/// Copy engines move the pieces, and no thread blocks wait for the ranks.
Candidate put(const Candidates& all) {
  const Machine& machine = all.machine();
  constexpr int calls = 4;  // ready, wait, put, wait
  Candidate c;
  c.protocol = static_cast<std::uint8_t>(nccl::Form::put);
  c.name = "nccl:put";
  c.seconds = calls * device_costs.launch_seconds + bytes_of_call(all.signature(), machine.size) / rate(machine);
  std::string why = why_no_nccl(machine);
  if (why.empty()) why = nccl::why_no_puts(all.signature(), machine.nccl_version);
  if (!why.empty())
    c.forbid(std::move(why));
  else
    c.advise_against("needs memory in windows of all ranks; available only by name");
  return c;
}

/// Widening and rounding read or write float32 beside the narrow type, at the rate of the device's memory, which is far
/// above that of the fabric.
Candidate wide(const Candidates& all) {
  const Machine& machine = all.machine();
  const Signature& signature = all.signature();
  Candidate c;
  c.protocol = static_cast<std::uint8_t>(nccl::Form::wide);
  c.name = "nccl:wide";
  const double copies = signature.operation == Operation::allreduce ? 3 : 2;  // of the narrow vector
  const double steps = machine.several_nodes ? 2 * std::log2(machine.size) : 0;
  c.seconds = 4 * device_costs.launch_seconds + steps * device_costs.hop_seconds +
              copies * bytes_of_call(signature, machine.size) / rate(machine);
  if (std::string why = why_no_nccl(machine); !why.empty())
    c.forbid(std::move(why));
  else if (!nccl::can_widen(signature, machine.device_kernels))
    c.forbid("only 16-bit sums and products that are rounded once are reduced in float32, by kernels on the device");
  return c;
}

std::string why_no_group(const Algorithm& algorithm, const Candidates& all) {
  std::string why = why_no_nccl(all.machine());
  if (why.empty()) why = why_wrong(algorithm, all.signature(), all.wiring().spread);
  if (why.empty()) (void)nccl::can_group(algorithm, all.signature(), all.machine().device_kernels, why);
  return why;
}

/// A round is a launch, and each of its messages costs too.
double seconds_of(const schedules::Cost& cost, double bytes_per_second) {
  return 2 * device_costs.launch_seconds * cost.rounds + device_costs.message_seconds * cost.messages * cost.rounds +
         cost.bytes / bytes_per_second;
}

double seconds_of(const Algorithm& algorithm, const Candidates& all) {
  const Machine& machine = all.machine();
  const double bytes = bytes_of_call(all.signature(), machine.size);
  if (!algorithm.hierarchical)
    return device_costs.launch_seconds +
           seconds_of(cost_of(algorithm, machine.size, bytes, all.wiring().spread.starts.through), rate(machine));
  const schedules::LevelCost cost = algorithm.level_cost(all.wiring().spread, bytes);
  double seconds = device_costs.launch_seconds + seconds_of(cost.across.cost, device_costs.network_rate);
  for (const schedules::PhaseCost& phase : cost.on_node) seconds += seconds_of(phase.cost, device_costs.fabric_rate);
  return seconds;
}

Candidate group(const Algorithm& algorithm, const Candidates& all, bool has_direct) {
  const Machine& machine = all.machine();
  Candidate c;
  c.algorithm = &algorithm;
  c.name = fmt::format("nccl:{}", algorithm.name);
  c.seconds = std::numeric_limits<double>::infinity();
  if (std::string why = why_no_group(algorithm, all); !why.empty()) {
    c.forbid(std::move(why));
    return c;
  }
  c.seconds = seconds_of(algorithm, all);
  c.preferred = !has_direct && !nccl::is_decided_by_costs(all.signature(), machine.size, machine.several_nodes) &&
                nccl::preferred_algorithm(all.signature(), machine.size) == algorithm.name;
  c.advise_against(why_too_many_ranks(algorithm, machine.size));
  if (has_direct) c.advise_against("NCCL's own collective makes the call; available only by name");
  return c;
}

/// The call then stays on the stream, whatever other backends predict.
void prefer_fastest(std::vector<Candidate>& own) {
  Candidate* fastest = nullptr;
  for (Candidate& candidate : own)
    if (candidate.can_be_chosen() && (fastest == nullptr || candidate.seconds < fastest->seconds)) fastest = &candidate;
  if (fastest != nullptr) fastest->preferred = true;
}

void add_candidates(Candidates& all) {
  if (!all.on_device()) return;
  const Machine& machine = all.machine();
  const Signature& signature = all.signature();
  std::vector<Candidate> own{direct(all)};
  const bool has_direct = own.front().can_be_chosen();
  const auto told_ways = nccl::told_ways(signature.operation);
  for (const std::string_view way : told_ways) own.push_back(told(way, own.front(), machine));
  if (tutti::combines(signature.operation)) own.push_back(wide(all));
  for (const Algorithm& algorithm : schedules::algorithms_of(signature.operation))
    if (!has_direct || std::ranges::count(told_ways, algorithm.name) == 0)
      own.push_back(group(algorithm, all, has_direct));
  if (nccl::may_put(signature.operation)) own.push_back(put(all));
  if (machine.several_nodes)
    for (const Algorithm& algorithm : schedules::hierarchical_algorithms_of(signature.operation))
      own.push_back(group(algorithm, all, has_direct));
  if (!has_direct && nccl::is_decided_by_costs(signature, machine.size, machine.several_nodes)) prefer_fastest(own);
  for (Candidate& candidate : own) all.add(std::move(candidate));
}

/// The execution of a plan that puts, by the messages of a schedule that sends each piece once.
std::shared_ptr<Execution> make_putting(const ContextPtr& context, const Plan& plan, Binding&& binding,
                                        const CallOptions& options) {
  const Operation operation = plan.signature.operation;
  const auto by_schedule = std::make_shared<Plan>(plan);
  by_schedule->algorithm =
      schedules::find_algorithm(operation, nccl::preferred_algorithm(plan.signature, context->size));
  const auto fail = [&](ErrorCode code, std::string_view why) {
    return Error(code, fmt::format("{}_init, {}: {}", operation_name(operation), context->describe(), why));
  };
  std::string why = options.capture != 0 ? "the stream is captured; make the request outside of captures" : "";
  std::shared_ptr<const nccl::Puts> puts;
  try {
    puts = nccl::agree_on_puts(*context, nccl::state_of(*context)->comm(), plan,
                               *bound_schedule(*context, *by_schedule, binding), binding, why);
  } catch (const Error& error) {
    throw fail(error.code(), error.what());
  }
  if (puts == nullptr)
    throw fail(ErrorCode::invalid_algorithm, fmt::format("algorithm '{}' cannot be used: {}", plan.way, why));
  return std::make_shared<NcclExecution>(context, by_schedule, std::move(binding), options.stream, options.timeout,
                                         options.capture, std::move(puts));
}

/// A blocking call needs no execution on the heap. With a stream it is done once it is launched.
void run(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options) {
  NcclExecution execution(context, plan, std::move(binding), options.stream, options.timeout, options.capture);
  ProgressEngine::instance().poll();
  execution.start();
  if (!execution.finished()) drive_to_end(execution);
  execution.rethrow();
}

std::shared_ptr<Execution> make(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const Turn* turn,
                                const CallOptions& options) {
  options.note.stamp();
  if (turn == nullptr && plan->signature.kind == CallKind::blocking) {
    run(context, plan, std::move(binding), options);
    return nullptr;
  }
  if (nccl::is_put(*plan)) return make_putting(context, *plan, std::move(binding), options);
  return std::make_shared<NcclExecution>(context, plan, std::move(binding), options.stream, options.timeout,
                                         options.capture);
}

void complete(Plan& plan, const Machine& machine) {
  add_schedule(plan, machine);
  plan.captures = true;
}

std::string summary() {
  std::string why;
  const nccl::Table* table = nccl::table(why);
  return "NCCL: " + (table != nullptr ? nccl::version_text(table->version) : why);
}

}  // namespace

constinit Backend nccl_backend{
    .name = "nccl", .add_candidates = add_candidates, .complete = complete, .make = make, .summary = summary};

void nccl::State::abort() noexcept {
  const std::lock_guard lock(mutex_);
  if (comm_) comm_->abort();
}

void nccl::State::release() noexcept {
  watch_.stop();
  std::unique_ptr<Comm> ended;  // without the lock: its end may take long
  {
    const std::lock_guard lock(mutex_);
    ended = std::move(comm_);
  }
}

nccl::State* nccl::state_of(const Context& context) noexcept {
  auto* state = static_cast<State*>(context.state_of(nccl_backend));
  return state == nullptr || state->is_released() ? nullptr : state;
}

}  // namespace tutti::detail
