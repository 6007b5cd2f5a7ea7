// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/collection_facts.hpp"

#include <tutti/collectives/allreduce.hpp>
#include <tutti/error.hpp>

namespace tutti {

namespace detail {

namespace {

template <typename Number>
void add_numbers(Hash& hash, const std::vector<Number>& numbers) {
  hash.add(numbers.size());
  for (const Number number : numbers) hash.add(number);
}

void add_frequencies(Hash& hash, const RowFrequencies& frequencies) {
  add_numbers(hash, frequencies.hot_rows);
  for (const auto* numbers : {&frequencies.hot_lookups, &frequencies.bucket_rows, &frequencies.bucket_lookups})
    add_numbers(hash, *numbers);
}

}  // namespace

void add_tables(Hash& hash, std::span<const EmbeddingTableConfig> tables) {
  hash.add(tables.size());
  for (const auto& table : tables) {
    hash.add(std::string_view(table.name)).add(table.rows).add(table.dim).add(table.type).add(table.pooling);
    hash.add(table.mean_lookups).add(table.sharding).add(table.row_order);
    add_numbers(hash, table.lookup_shares);
    add_frequencies(hash, table.frequencies);
  }
}

void check_alike(const Communicator& comm, const Hash& hash, const std::string& what) {
  std::uint64_t words[2] = {hash.value(), ~hash.value()};
  allreduce(comm, Buffer(words, 2), max);
  if (words[0] != ~words[1])
    throw Error(ErrorCode::mismatch, what + " differ between the ranks; pass the same on every rank");
}

}  // namespace detail

namespace {

PlannerFacts facts_of(const Communicator& comm) {
  const auto exchange = detail::services::predict_exchange(comm);
  PlannerFacts facts;
  facts.node_of.clear();
  for (const Place& place : comm.topology().places) facts.node_of.push_back(place.node);
  facts.exchange_latency = exchange.latency;
  facts.exchange_rate = exchange.rate;
  return facts;
}

}  // namespace

ShardingPlan plan_sharding(const Communicator& comm, std::span<const EmbeddingTableConfig> tables,
                           const PlannerOptions& options) {
  detail::Hash arguments;
  arguments.add(options.batch).add(options.memory_limit).add(options.optimizer).add(options.exchange_type);
  detail::add_tables(arguments, tables);
  detail::check_alike(comm, arguments, "plan_sharding: tables or options");
  return plan_sharding(facts_of(comm), tables, options);
}

}  // namespace tutti
