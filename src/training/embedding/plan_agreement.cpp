// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string_view>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/error.hpp>
#include <tutti/sharding_plan.hpp>

#include "call/context.hpp"
#include "training/embedding/fingerprint.hpp"

namespace tutti {

namespace {

std::uint64_t fingerprint(std::span<const EmbeddingTableConfig> tables, const PlannerOptions& options) {
  detail::Fingerprint print;
  print.add(options.batch).add(options.memory_limit).add(static_cast<std::uint64_t>(options.optimizer));
  detail::add_tables(print, tables);
  return print.value();
}

PlannerFacts facts_of(const Communicator& comm) {
  const auto& state = *comm.state();
  const auto& links = detail::typical_links();
  const bool several = state.topology.nodes > 1;
  const auto& link = links[several ? detail::LinkLevel::network : state.on_node];
  PlannerFacts facts;
  facts.node_of = detail::nodes_of(state.topology);
  facts.exchange_latency = link.overhead;
  const double senders = static_cast<double>(comm.size()) / static_cast<double>(state.topology.nodes);
  facts.exchange_rate = several ? std::min(link.rate, link.shared_rate / senders) : link.copying_rate / 2;
  return facts;
}

}  // namespace

ShardingPlan plan_sharding(const Communicator& comm, std::span<const EmbeddingTableConfig> tables,
                           const PlannerOptions& options) {
  detail::check_alike(comm, fingerprint(tables, options), "plan_sharding: tables or options");
  return plan_sharding(facts_of(comm), tables, options);
}

}  // namespace tutti
