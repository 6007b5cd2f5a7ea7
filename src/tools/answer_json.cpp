// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <tutti/error.hpp>

#include "backends/list.hpp"
#include "call/plan.hpp"
#include "planner/names.hpp"
#include "planner/type_class.hpp"
#include "tools/answer.hpp"
#include "tools/drawing.hpp"

namespace tutti::tools {
namespace {

using nlohmann::ordered_json;
using schedules::Schedule;

ordered_json slice_json(const schedules::Slice& slice) {
  constexpr std::array names = {"input", "output", "scratch"};
  return {{"buffer", names[static_cast<std::size_t>(slice.buffer)]}, {"offset", slice.offset}, {"count", slice.count}};
}

ordered_json exchange_json(const schedules::Exchange& exchange) {
  return {{"operation", operation_name(exchange.operation)},
          {"root", exchange.root},
          {"count", exchange.count},
          {"input", slice_json(exchange.input)},
          {"output", slice_json(exchange.output)}};
}

ordered_json schedule_json(const Schedule& schedule) {
  ordered_json rounds = ordered_json::array();
  for (const auto& round : schedule.rounds) {
    ordered_json transfers = ordered_json::array();
    for (const auto& transfer : round.transfers)
      transfers.push_back({{"kind", transfer.kind == schedules::Transfer::Kind::send ? "send" : "recv"},
                           {"peer", transfer.peer},
                           {"slice", slice_json(transfer.slice)}});
    ordered_json locals = ordered_json::array();
    for (const auto& local : round.locals) {
      ordered_json inputs = ordered_json::array();
      for (const auto& input : local.inputs) inputs.push_back(slice_json(input));
      locals.push_back({{"kind", local.kind == schedules::Local::Kind::copy ? "copy" : "reduce"},
                        {"inputs", std::move(inputs)},
                        {"output", slice_json(local.output)}});
    }
    rounds.push_back({{"transfers", std::move(transfers)}, {"locals", std::move(locals)}});
    if (round.exchange) rounds.back()["exchange"] = exchange_json(*round.exchange);
  }
  return {
      {"scratch_count", schedule.scratch_count}, {"alias_safe", schedule.alias_safe}, {"rounds", std::move(rounds)}};
}

ordered_json call_json(const Case& call) {
  const detail::Signature& signature = call.signature;
  ordered_json value = {{"text", call_text(call)},
                        {"operation", operation_name(signature.operation)},
                        {"kind", detail::tuning::call_kind_name(signature.kind)},
                        {"type", datatype_name(signature.type.kind())},
                        {"element_size", signature.type.size()},
                        {"count", signature.count},
                        {"bytes", signature.count * signature.type.size()},
                        {"root", signature.root},
                        {"reproducible", signature.reproducible}};
  if (combines(signature.operation)) value["op"] = reduce_op_name(signature.op);
  if (!signature.algorithm.empty()) value["algorithm"] = signature.algorithm;
  return value;
}

ordered_json machine_json(const Case& call) {
  const detail::Machine machine = call.machine();
  const Topology& topology = call.surroundings.topology;
  ordered_json costs = ordered_json::object();
  for (const detail::NamedCost& cost : detail::named_costs) costs[std::string(cost.name)] = machine.costs.*cost.value;
  return {{"ranks", machine.size},
          {"ranks_per_node", topology.ranks_per_node},
          {"cores_per_node", topology.cores_per_node},
          {"oversubscribed", machine.oversubscribed},
          {"shm", machine.shared_memory},
          {"shm_on_nodes", machine.node_memory.is_shared},
          {"single_copy", machine.single_copy},
          {"mapped_copy", machine.mapped_copy},
          {"progress_hook", machine.progress_hook},
          {"progress_hook_by", call.surroundings.progress_report},
          {"native_blocking", machine.native_blocking},
          {"costs", costs},
          {"costs_from", call.surroundings.costs_report},
          {"links", links_text(call)},
          {"network", network_text(topology)},
          {"table", call.surroundings.table_report}};
}

ordered_json candidates_json(const Answer& answer) {
  ordered_json list = ordered_json::array();
  for (const auto& one : answer.candidates) {
    ordered_json entry = {{"name", one.name}, {"measured", one.measured}};
    if (has_time(one)) entry["seconds"] = one.seconds;
    if (!one.excluded.empty()) entry["excluded"] = one.excluded;
    list.push_back(std::move(entry));
  }
  return list;
}

/// A drawing has messages only, so also those that exchanges over a node's memory take the place of.
void add_schedules(ordered_json& value, const Answer& answer) {
  Case drawn = answer.call;
  drawn.surroundings.shm = false;
  for (const Schedule& schedule : schedules_of(drawn, *answer.plan->algorithm))
    value["schedules"].push_back(schedule_json(schedule));
  for (int rank = 0; rank < answer.call.size() && !answer.call.node_of.empty(); ++rank)
    value["nodes"].push_back(answer.call.node_of.node(rank));
}

void add_view(ordered_json& value, const ProtocolView& view) {
  constexpr std::array names = {"store", "load", "combine", "read", "write"};
  for (const auto& layer : view.layers)
    value["layers"].push_back(
        {{"name", layer.name}, {"shared", layer.is_shared}, {"boxes", layer.boxes}, {"note", layer.note}});
  for (const auto& step : view.steps)
    value["moves"].push_back({{"move", names[static_cast<std::size_t>(step.move)]}, {"arrows", step.arrows}});
}

ordered_json round_json(const Answer& answer, std::size_t rank, std::size_t round) {
  const RankTimes& measured = answer.measured->ranks[rank];
  const RankTimes& predicted = answer.predicted_ranks[rank];
  return {{"begin", begin_of(measured, round)},
          {"seconds", measured.ends[round] - begin_of(measured, round)},
          {"predicted_begin", begin_of(predicted, round)},
          {"predicted_seconds", predicted.ends[round] - begin_of(predicted, round)}};
}

ordered_json measured_json(const Answer& answer) {
  ordered_json ranks = ordered_json::array();
  for (std::size_t rank = 0; rank < answer.measured->ranks.size(); ++rank) {
    const RankTimes& measured = answer.measured->ranks[rank];
    ordered_json rounds = ordered_json::array();
    for (std::size_t i = 0; i < measured.ends.size(); ++i) rounds.push_back(round_json(answer, rank, i));
    ranks.push_back({{"begin", measured.begin}, {"end", measured.end}, {"rounds", std::move(rounds)}});
  }
  return {{"repeats", answer.measured->repeats},
          {"seconds", answer.measured->seconds},
          {"clocks", answer.measured->clocks},
          {"ranks", std::move(ranks)}};
}

void check_ranks(int ranks) {
  if (ranks <= most_drawn_ranks) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("a drawing of {} ranks cannot be read: at most {} are drawn; ask "
                          "for fewer by --ranks",
                          ranks, most_drawn_ranks));
}

}  // namespace

std::string answer_json(const Answer& answer, bool all_ranks) {
  if (all_ranks) check_ranks(answer.call.size());
  ordered_json value = {{"call", call_json(answer.call)},
                        {"machine", machine_json(answer.call)},
                        {"chosen", answer.chosen()->name},
                        {"candidates", candidates_json(answer)}};
  if (answer.plan->algorithm != nullptr) {
    value["rank"] = answer.call.rank;
    value["schedule"] = schedule_json(schedule_of(answer.call, *answer.plan->algorithm, answer.call.rank));
    if (all_ranks) add_schedules(value, answer);
  }
  if (answer.plan->backend == &detail::shm_backend) {
    const auto view = view_of(answer);
    for (const auto& step : view.steps) value["steps"].push_back(step.words);
    if (all_ranks) add_view(value, view);
  }
  if (answer.measured) value["measured"] = measured_json(answer);
  return value.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::tools
