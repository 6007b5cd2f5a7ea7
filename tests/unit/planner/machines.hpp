// SPDX-License-Identifier: BSD-3-Clause
// Machines that are not at hand, and calls on them.
#pragma once

#include <algorithm>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/list.hpp"
#include "planner/candidates.hpp"
#include "planner/planner.hpp"

namespace tutti::detail::test {

inline constexpr Operation operations[] = {
    Operation::barrier,    Operation::bcast,    Operation::reduce,         Operation::allreduce,
    Operation::gather,     Operation::gatherv,  Operation::scatter,        Operation::scatterv,
    Operation::scan,       Operation::exscan,   Operation::reduce_scatter, Operation::allgather,
    Operation::allgatherv, Operation::alltoall, Operation::alltoallv,      Operation::reduce_scatter_block};

inline Signature signature(Operation operation, std::size_t count, CallKind kind = CallKind::blocking) {
  Signature s;
  s.operation = operation;
  s.kind = kind;
  s.type = DatatypeKind::float32;
  s.count = count;
  return s;
}

inline Machine one_node(int size) {
  Machine m;
  m.size = size;
  m.shared_memory = size > 1;
  m.single_copy = true;
  return m;
}

/// Several nodes. A machine only views its map, which is kept to the end of the program.
class Cluster {
 public:
  explicit Cluster(const std::vector<int>& node_of) : node_of_(&kept().emplace_back(node_of)) {}
  [[nodiscard]] Machine machine(int rank = 0) const {
    Machine m;
    m.rank = rank;
    m.size = node_of_->size();
    m.several_nodes = true;
    m.node_of = node_of_;
    return m;
  }

 private:
  static std::deque<schedules::NodeMap>& kept() {
    static std::deque<schedules::NodeMap> all;
    return all;
  }
  const schedules::NodeMap* node_of_;
};

inline Cluster blocks(int nodes, int per_node) {
  std::vector<int> node_of;
  for (int rank = 0; rank < nodes * per_node; ++rank) node_of.push_back(rank / per_node);
  return Cluster(std::move(node_of));
}

inline Cluster round_robin(int nodes, int per_node) {
  std::vector<int> node_of;
  for (int rank = 0; rank < nodes * per_node; ++rank) node_of.push_back(rank % nodes);
  return Cluster(std::move(node_of));
}

inline const Candidate* find(const std::vector<Candidate>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Candidate& c) { return c.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace tutti::detail::test
