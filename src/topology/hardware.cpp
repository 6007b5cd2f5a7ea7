// SPDX-License-Identifier: BSD-3-Clause
#include "topology/hardware.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::detail {
namespace {

std::vector<int> all_numas(const Hardware& host) {
  std::vector<int> numas;
  for (const Element& element : host.elements)
    if (element.kind == ElementKind::numa) numas.insert(numas.end(), element.numas.begin(), element.numas.end());
  return numas;
}

Element rank_element(int rank, const Place& place, const std::vector<Hardware>& nodes) {
  Element element;
  element.kind = ElementKind::rank;
  element.name = fmt::format("rank {}", rank);
  element.detail =
      fmt::format("may use {} processing unit{}", place.cores_allowed, place.cores_allowed == 1 ? "" : "s");
  element.node = place.node;
  element.core = place.core;
  element.l3 = place.l3;
  element.numas =
      place.numa >= 0 ? std::vector<int>{place.numa} : all_numas(nodes[static_cast<std::size_t>(place.node)]);
  return element;
}

/// Whether a core belongs to the group of the cores before it.
bool belongs(const Element& group, const Element& core) {
  return group.kind == ElementKind::core && core.kind == ElementKind::core && group.node == core.node &&
         group.l3 == core.l3 && group.numas == core.numas;
}

/// "n1/cores 0-7" from "n1/core 0" and the number of the last core.
std::string group_name(const std::string& first, int last) {
  const std::size_t at = first.find("core ");
  return fmt::format("{}cores {}-{}", first.substr(0, at), first.substr(at + 5), last);
}

}  // namespace

Hardware join_nodes(const std::vector<Hardware>& nodes, const Topology& ranks) {
  Hardware all;
  for (std::size_t rank = 0; rank < ranks.places.size(); ++rank)
    all.elements.push_back(rank_element(static_cast<int>(rank), ranks.places[rank], nodes));
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    all.hosts.insert(all.hosts.end(), nodes[node].hosts.begin(), nodes[node].hosts.end());
    for (Element element : nodes[node].elements) {
      element.node = static_cast<int>(node);
      if (nodes.size() > 1) element.name = fmt::format("n{}/{}", node, element.name);
      all.elements.push_back(std::move(element));
    }
  }
  return all;
}

Hardware group_cores(const Hardware& hardware) {
  Hardware grouped{hardware.hosts, {}};
  std::vector<std::string> first_names;
  for (const Element& element : hardware.elements) {
    if (!grouped.elements.empty() && belongs(grouped.elements.back(), element)) {
      Element& group = grouped.elements.back();
      group.name = group_name(first_names.back(), element.core);
      group.cores += element.cores;
      group.core = -1;
      group.detail = fmt::format("{} cores", group.cores);
      continue;
    }
    grouped.elements.push_back(element);
    first_names.push_back(element.name);
  }
  return grouped;
}

Hardware keep_kinds(const Hardware& hardware, const std::vector<ElementKind>& kinds) {
  Hardware kept{hardware.hosts, {}};
  std::copy_if(
      hardware.elements.begin(), hardware.elements.end(), std::back_inserter(kept.elements),
      [&](const Element& element) { return std::find(kinds.begin(), kinds.end(), element.kind) != kinds.end(); });
  return kept;
}

}  // namespace tutti::detail
