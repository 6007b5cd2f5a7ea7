// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/backend.hpp"

#include <fmt/format.h>

#include <limits>

#include "backends/device/costs.hpp"
#include "backends/nccl/nccl_execution.hpp"
#include "backends/nccl/rules.hpp"
#include "backends/nccl/table.hpp"
#include "call/candidates.hpp"
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
  c.backend = &nccl_backend;
  c.name = "nccl:direct";
  c.seconds = device_costs.launch_seconds + bytes_of_call(all.signature(), machine.size) / device_costs.fabric_rate;
  if (std::string why = why_no_nccl(machine); !why.empty())
    c.forbid(std::move(why));
  else if (!nccl::is_direct(all.signature(), machine.nccl_version))
    c.forbid("NCCL lacks this collective, or its result differs");
  // The call then stays on the stream, whatever the models say.
  c.preferred = c.can_be_chosen();
  return c;
}

std::string why_no_group(const Algorithm& algorithm, const Candidates& all) {
  std::string why = why_no_nccl(all.machine());
  if (why.empty()) why = why_wrong(algorithm, all.signature(), all.wiring().spread);
  if (why.empty()) (void)nccl::can_group(algorithm, all.signature(), all.machine().device_kernels, why);
  return why;
}

Candidate group(const Algorithm& algorithm, const Candidates& all, bool has_direct) {
  const Machine& machine = all.machine();
  Candidate c;
  c.backend = &nccl_backend;
  c.algorithm = &algorithm;
  c.name = fmt::format("nccl:{}", algorithm.name);
  c.seconds = std::numeric_limits<double>::infinity();
  if (std::string why = why_no_group(algorithm, all); !why.empty()) {
    c.forbid(std::move(why));
    return c;
  }
  const auto cost = algorithm.cost(machine.size, bytes_of_call(all.signature(), machine.size));
  c.seconds = device_costs.launch_seconds * (1 + 2 * cost.rounds) + cost.bytes / device_costs.fabric_rate;
  c.preferred = !has_direct && nccl::preferred_algorithm(all.signature(), machine.size) == algorithm.name;
  if (has_direct) c.advise_against("NCCL's own collective makes the call; available only by name");
  return c;
}

void add_candidates(Candidates& all) {
  if (!all.on_device()) return;
  Candidate own = direct(all);
  const bool has_direct = own.can_be_chosen();
  all.add(std::move(own));
  for (const Algorithm& algorithm : schedules::algorithms_of(all.signature().operation))
    all.add(group(algorithm, all, has_direct));
}

std::shared_ptr<Execution> make(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, Turn /*turn*/,
                                const CallOptions& options) {
  return std::make_shared<NcclExecution>(context, plan, std::move(binding), options.stream, options.timeout);
}

std::string summary() {
  std::string why;
  const nccl::Table* table = nccl::table(why);
  return "NCCL: " + (table != nullptr ? nccl::version_text(table->version) : why);
}

}  // namespace

constinit Backend nccl_backend{.name = "nccl",
                               .add_candidates = add_candidates,
                               .complete = add_schedule,
                               .make = make,
                               .summary = summary,
                               .captures = true};

}  // namespace tutti::detail
