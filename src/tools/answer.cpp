// SPDX-License-Identifier: BSD-3-Clause
#include "tools/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tutti/error.hpp>

#include "backends/list.hpp"
#include "backends/nccl/table.hpp"
#include "call/plan.hpp"
#include "planner/calibration.hpp"
#include "planner/type_class.hpp"
#include "schedules/text.hpp"
#include "tools/units.hpp"
#include "topology/columns.hpp"

namespace tutti::tools {
namespace {

using detail::Candidate;

std::string memory_text(const detail::Machine& machine) {
  const bool on_nodes = machine.node_memory.is_shared;
  if (!machine.shared_memory && !on_nodes) return "no";
  const bool single = machine.single_copy || machine.node_memory.single_copy;
  const bool mapped = machine.mapped_copy || machine.node_memory.mapped_copy;
  return fmt::format("{}, {}", on_nodes ? "on each node, for phases of blocking calls" : "yes",
                     mapped   ? "with single copy by XPMEM"
                     : single ? "with single copy"
                              : "without single copy");
}

std::string machine_text(const Answer& answer) {
  const Surroundings& where = answer.call.surroundings;
  const detail::Machine machine = answer.call.machine();
  std::string text =
      fmt::format("  ranks a node      {}\n  processing units  {}{}\n", fmt::join(where.topology.ranks_per_node, "+"),
                  fmt::join(where.topology.cores_per_node, "+"),
                  machine.oversubscribed ? " (more ranks than units: waiting yields)" : "");
  text += fmt::format("  shared memory     {}{}\n", memory_text(machine),
                      where.shm_report.empty() ? "" : ": " + where.shm_report);
  text += fmt::format("  progress in MPI   {}: {}\n", machine.progress_hook ? "yes" : "no", where.progress_report);
  if (answer.call.signature.memory == detail::MemoryClass::device)
    text += fmt::format("  NCCL              {}\n  device            {}, {}\n",
                        machine.nccl_version == 0 ? "none: " + where.device.nccl_report
                                                  : detail::nccl::version_text(machine.nccl_version),
                        machine.device_kernels ? "kernels" : "no kernels",
                        machine.cuda_aware ? "CUDA-aware MPI" : "MPI through pinned memory");
  text += fmt::format("  costs             {}: {}\n", where.costs_report, detail::tuning::text_of(where.costs));
  text += fmt::format("  links             {}\n", links_text(answer.call));
  if (where.topology.nodes > 1) text += fmt::format("  network           {}\n", network_text(where.topology));
  return text + fmt::format("  measured table    {}\n", where.table_report.empty() ? "none" : where.table_report);
}

std::string why(const Answer& answer) {
  if (!answer.call.surroundings.named_by.empty()) return "named by " + answer.call.surroundings.named_by;
  const Candidate& chosen = *answer.chosen();
  if (chosen.preferred)
    return chosen.backend == &detail::nccl_backend
               ? "preferred: the call stays on the stream"
               : "preferred: it progresses where this library's own algorithms would not";
  const auto others = std::count_if(answer.candidates.begin(), answer.candidates.end(),
                                    [](const Candidate& one) { return one.excluded.empty(); });
  const std::string time =
      fmt::format("{} {}", chosen.measured ? "measured" : "predicted", seconds_text(chosen.seconds));
  return others == 1 ? time + ", the only candidate that can be chosen"
                     : fmt::format("{}, the shortest of {} candidates that can be chosen", time, others);
}

std::string why_not(const Answer& answer, const Candidate& one) {
  if (&one == answer.chosen()) return "";
  if (!one.excluded.empty()) return one.excluded;
  if (!answer.call.surroundings.named_by.empty()) return "another candidate was named";
  return answer.chosen()->preferred ? "another candidate is preferred" : "slower";
}

std::string candidate_table(const Answer& answer) {
  detail::TextRows rows = {{" ", "candidate", "time", "from", "why not"}};
  for (const Candidate& one : answer.candidates)
    rows.push_back({&one == answer.chosen() ? "*" : " ", one.name, has_time(one) ? seconds_text(one.seconds) : "-",
                    !has_time(one) ? "-"
                    : one.measured ? "measured"
                                   : "predicted",
                    why_not(answer, one)});
  return detail::in_columns(rows);
}

/// The lines that somebody reads, and the number of the others.
std::string first_lines(const std::string& text) {
  constexpr std::ptrdiff_t most_lines = 400;
  const auto lines = std::count(text.begin(), text.end(), '\n');
  if (lines <= most_lines) return text;
  std::size_t end = 0;
  for (std::ptrdiff_t i = 0; i < most_lines; ++i) end = text.find('\n', end) + 1;
  return text.substr(0, end) + fmt::format("... and {} more lines of this kind\n", lines - most_lines);
}

std::string steps_text(const Answer& answer) {
  const detail::Plan& plan = *answer.plan;
  if (plan.backend == &detail::shm_backend) return "Through shared memory\n" + protocol_text(view_of(answer));
  if (plan.backend == &detail::native_backend)
    return "The rounds are those of the host MPI. --algorithm NAME shows a schedule of this library.\n";
  if (plan.part)
    return fmt::format("In {} piece{} through pinned host memory; copies overlap communication\n", plan.pieces,
                       plan.pieces == 1 ? "" : "s");
  if (plan.algorithm == nullptr) return "One collective of NCCL on the caller's stream\n";
  const auto schedule = schedule_of(answer.call, *answer.plan->algorithm, answer.call.rank);
  return fmt::format("Schedule of rank {} (elements of {} bytes)\n{}", answer.call.rank,
                     answer.call.signature.type.size(), first_lines(schedules::to_text(schedule)));
}

}  // namespace

ProtocolView view_of(const Answer& answer) {
  return protocol_view(static_cast<detail::shm::Protocol>(answer.plan->protocol), answer.call.signature,
                       answer.call.size());
}

bool has_time(const Candidate& candidate) {
  if (candidate.measured) return true;
  // The planner gives an unmeasured collective of the host MPI the time of the schedule beside it, and prices
  // candidates that cannot make the call as if they could.
  return candidate.backend != &detail::native_backend && candidate.nameable && std::isfinite(candidate.seconds);
}

const Candidate* Answer::chosen() const {
  for (const Candidate& one : candidates)
    if (one.backend == plan->backend && one.protocol == plan->protocol && one.algorithm == plan->algorithm) return &one;
  throw Error(ErrorCode::internal, "explain: the plan is not one of the candidates");
}

Answer answer(Case call) {
  Answer made{std::move(call), {}, nullptr};
  const detail::Machine machine = made.call.machine();
  made.candidates = detail::candidates(made.call.signature, machine);
  made.plan = detail::make_plan(made.call.signature, machine);
  return made;
}

void add_measured(Answer& answer, MeasuredCall measured) {
  const auto has_rounds = [](const RankTimes& one) { return !one.ends.empty(); };
  if (answer.plan->algorithm != nullptr && std::ranges::any_of(measured.ranks, has_rounds)) {
    const schedules::Algorithm& algorithm = *answer.plan->algorithm;
    answer.predicted_ranks = predicted_rounds(answer.call, algorithm, schedules_of(answer.call, algorithm));
    for (std::size_t rank = 0; rank < measured.ranks.size(); ++rank)
      if (measured.ranks[rank].ends.size() != answer.predicted_ranks[rank].ends.size())
        throw Error(ErrorCode::internal,
                    fmt::format("explain: rank {} had {} rounds, and its schedule has {}; report "
                                "this with the command line",
                                rank, measured.ranks[rank].ends.size(), answer.predicted_ranks[rank].ends.size()));
  }
  answer.measured = std::move(measured);
}

std::string answer_text(const Answer& answer) {
  std::string text = call_text(answer.call) + "\n" + machine_text(answer) + "\n";
  text += fmt::format("Chosen: {} ({})\n\n", answer.chosen()->name, why(answer));
  text += candidate_table(answer) + "\n" + steps_text(answer);
  if (answer.measured) text += "\n" + first_lines(rounds_text(*answer.measured, answer.predicted_ranks));
  return text;
}

void check_drawable(const Answer& answer) {
  if (answer.plan->backend == &detail::shm_backend || answer.plan->algorithm != nullptr) return;
  std::vector<std::string_view> names;
  for (const auto& algorithm : schedules::algorithms_of(answer.call.signature.operation))
    names.push_back(algorithm.name);
  throw Error(ErrorCode::not_supported,
              fmt::format("{} makes the call, and its rounds cannot be drawn; name one of this library's "
                          "algorithms by --algorithm: {}",
                          answer.chosen()->name, fmt::join(names, ", ")));
}

}  // namespace tutti::tools
