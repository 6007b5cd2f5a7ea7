// SPDX-License-Identifier: BSD-3-Clause
#include "topology/discover.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "core/mpi_call.hpp"
#include "topology/network_groups.hpp"
#include "topology/place.hpp"

namespace tutti::detail {
namespace {

struct Entry {
  std::int32_t leader = 0;  ///< lowest rank on the same node
  LocalPlace place{};
  NetworkMarks network{};
};

/// The lowest rank that shares memory with this one according to MPI, which splits emulated nodes too.
int node_leader(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  MPI_Group whole = MPI_GROUP_NULL;
  MPI_Group part = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &whole);
  MPI_Comm_group(node, &part);
  const int first = 0;
  int leader = 0;
  MPI_Group_translate_ranks(part, 1, &first, whole, &leader);
  MPI_Group_free(&part);
  MPI_Group_free(&whole);
  MPI_Comm_free(&node);
  return leader;
}

std::vector<Entry> exchange(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  static const LocalPlace place = local_place();
  static const NetworkMarks network = marks_of(network_paths());
  Entry mine{node_leader(comm), place, network};
  std::vector<Entry> all(static_cast<std::size_t>(size));
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm, &request),
            "MPI_Iallgather");
  wait_yielding(request, "MPI_Iallgather");
  return all;
}

int count_units(const LocalPlace::Units& units) {
  int count = 0;
  for (const auto word : units) count += std::popcount(word);
  return count;
}

void add(UnitUse& use, int ranks, const LocalPlace::Units& units) {
  use.ranks += ranks;
  for (std::size_t word = 0; word < units.size(); ++word) use.units[word] |= units[word];
}

/// Processing units of a node or machine; one where they are unknown.
int count_units(const UnitUse& use) { return std::max(1, count_units(use.units)); }

void use_groups(Topology& topology, NetworkGroups groups) {
  topology.network_groups = std::move(groups.levels);
  if (groups.source) topology.network_source = network_source_names[static_cast<std::size_t>(*groups.source)];
}

bool is_oversubscribed(const UnitUse& use) { return use.ranks > count_units(use); }

}  // namespace

bool is_oversubscribed(std::span<const UnitUse> nodes) {
  std::map<std::uint64_t, UnitUse> machines;
  for (const UnitUse& node : nodes) {
    if (is_oversubscribed(node)) return true;
    if (node.kernel != 0) add(machines[node.kernel], node.ranks, node.units);
  }
  return std::ranges::any_of(machines, [](const auto& machine) { return is_oversubscribed(machine.second); });
}

Topology discover_topology(MPI_Comm comm) {
  const std::vector<Entry> entries = exchange(comm);
  Topology topology;
  topology.nodes = 0;
  std::map<std::int32_t, int> node_of_leader;
  std::vector<UnitUse> uses;
  std::vector<NetworkMarks> marks;
  for (const Entry& entry : entries) {
    const auto [found, is_new] = node_of_leader.try_emplace(entry.leader, topology.nodes);
    const int node = found->second;
    if (is_new) {
      ++topology.nodes;
      topology.ranks_per_node.push_back(0);
      topology.host_names.emplace_back(entry.place.host.data());
      uses.push_back({looks_at_kernels ? entry.place.kernel : 0, 0, {}});
      marks.push_back(entry.network);
    }
    const auto n = static_cast<std::size_t>(node);
    topology.places.push_back({node, topology.ranks_per_node[n]++, entry.place.numa, entry.place.l3, entry.place.core,
                               count_units(entry.place.units), entry.place.socket});
    add(uses[n], 1, entry.place.units);
  }
  for (const UnitUse& use : uses) topology.cores_per_node.push_back(count_units(use));
  topology.oversubscribed = is_oversubscribed(uses);
  use_groups(topology, network_groups(marks));
  return topology;
}

Topology restrict_topology(const Topology& whole, MPI_Comm parent, MPI_Comm child) {
  int size = 1;
  MPI_Comm_size(child, &size);
  MPI_Group parent_group = MPI_GROUP_NULL;
  MPI_Group child_group = MPI_GROUP_NULL;
  MPI_Comm_group(parent, &parent_group);
  MPI_Comm_group(child, &child_group);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> parent_ranks(ranks.size());
  for (int r = 0; r < size; ++r) ranks[static_cast<std::size_t>(r)] = r;
  MPI_Group_translate_ranks(child_group, size, ranks.data(), parent_group, parent_ranks.data());
  MPI_Group_free(&child_group);
  MPI_Group_free(&parent_group);

  Topology part;
  part.nodes = 0;
  // The part shares the cores of a machine with ranks outside it, so an oversubscribed one stays oversubscribed.
  part.oversubscribed = whole.oversubscribed;
  std::map<int, int> node_of;
  std::vector<int> nodes;
  for (const int rank : parent_ranks) {
    Place place = whole.places[static_cast<std::size_t>(rank)];
    const auto old = static_cast<std::size_t>(place.node);
    const auto [found, is_new] = node_of.try_emplace(place.node, part.nodes);
    if (is_new) {
      ++part.nodes;
      part.ranks_per_node.push_back(0);
      part.cores_per_node.push_back(whole.cores_per_node[old]);
      part.host_names.push_back(whole.host_names[old]);
      nodes.push_back(place.node);
    }
    place.node = found->second;
    place.local_rank = part.ranks_per_node[static_cast<std::size_t>(place.node)]++;
    part.places.push_back(place);
  }
  part.network_groups = groups_of_part(whole.network_groups, nodes);
  part.network_source = whole.network_source;
  return part;
}

}  // namespace tutti::detail
