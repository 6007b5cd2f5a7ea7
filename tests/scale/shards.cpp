// SPDX-License-Identifier: BSD-3-Clause
// How plan_sharding() divides embedding tables over the ranks of a machine with given links: weak.py asks it about the
// simulated one.
//
//   tutti_scale_shards LINKS NODES BATCH < TABLES
//
// LINKS is as for tutti_scale_choices, with one rank a node; a table is rows, columns and mean lookups of a sample.
// Prints the columns of the rank with most, among the vectors of forward and among the gradients of backward; the
// predicted seconds of the lookups and updates of the slowest rank; its bytes; and how many tables are divided how.
#include <algorithm>
#include <iostream>
#include <map>
#include <numeric>
#include <string>
#include <tutti/sharding_plan.hpp>

#include "given_links.hpp"

namespace tutti::tools {
namespace {

/// As a communicator of these nodes has them.
PlannerFacts facts_of(const char* path, int nodes) {
  const GivenLinks given(path);
  const detail::Link& link = (*given.links())[detail::LinkLevel::network];
  PlannerFacts facts;
  facts.node_of.resize(static_cast<std::size_t>(nodes));
  std::iota(facts.node_of.begin(), facts.node_of.end(), 0);
  if (nodes == 1) return facts;
  facts.exchange_latency = link.overhead;
  facts.exchange_rate = std::min(link.rate, link.shared_rate);
  return facts;
}

std::vector<EmbeddingTableConfig> read_tables(std::istream& in) {
  std::vector<EmbeddingTableConfig> tables;
  for (EmbeddingTableConfig table; in >> table.rows >> table.dim >> table.mean_lookups; tables.push_back(table))
    table.name = std::to_string(tables.size());
  return tables;
}

struct Columns {
  std::size_t vectors = 0;
  std::size_t gradients = 0;
};

/// A replica's vectors are not sent; its gradients are.
Columns most_columns(const ShardingPlan& plan) {
  std::vector<Columns> ranks(static_cast<std::size_t>(plan.ranks));
  for (const TableShard& shard : plan.shards) {
    Columns& rank = ranks[static_cast<std::size_t>(shard.rank)];
    rank.gradients += shard.columns();
    if (plan.shardings[shard.table] != Sharding::data_parallel) rank.vectors += shard.columns();
  }
  Columns most;
  for (const Columns& rank : ranks)
    most = {std::max(most.vectors, rank.vectors), std::max(most.gradients, rank.gradients)};
  return most;
}

void run(const char* links, int nodes, std::size_t batch) {
  const std::vector<EmbeddingTableConfig> tables = read_tables(std::cin);
  const ShardingPlan plan = plan_sharding(facts_of(links, nodes), tables, {.batch = batch});
  const Columns most = most_columns(plan);
  RankLoad load;
  for (const RankLoad& rank : plan.prediction) {
    load.lookup_seconds = std::max(load.lookup_seconds, rank.lookup_seconds);
    load.bytes = std::max(load.bytes, rank.bytes);
  }
  std::cout << most.vectors << ' ' << most.gradients << ' ' << load.lookup_seconds << ' ' << load.bytes << '\n';
  std::map<std::string, int> ways;
  for (const Sharding sharding : plan.shardings) ++ways[sharding_name(sharding)];
  for (const auto& [name, count] : ways) std::cout << name << ' ' << count << '\n';
}

}  // namespace
}  // namespace tutti::tools

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: tutti_scale_shards LINKS NODES BATCH < TABLES\n";
    return 2;
  }
  try {
    tutti::tools::run(argv[1], std::stoi(argv[2]), std::stoul(argv[3]));
  } catch (const std::exception& error) {
    std::cerr << "tutti_scale_shards: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
