// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "topology/columns.hpp"
#include "topology/matrix.hpp"

namespace tutti::detail {
namespace {

/// Several nodes with more elements than this are shown node by node.
constexpr std::size_t most_in_one = 40;

std::string matrix_of(const Hardware& hardware, const std::vector<std::size_t>& shown) {
  TextRows rows(1);
  rows[0].emplace_back();
  for (const std::size_t column : shown) rows[0].push_back(hardware.elements[column].name);
  for (const std::size_t row : shown) {
    rows.push_back({hardware.elements[row].name});
    for (const std::size_t column : shown) rows.back().push_back(to_text(relation(hardware, row, column)));
  }
  return in_columns(rows);
}

std::string numa_list(const std::vector<int>& numas) {
  return numas.empty() ? "-" : fmt::format("{}", fmt::join(numas, ","));
}

std::string index_or_dash(int index) { return index < 0 ? "-" : fmt::format("{}", index); }

std::string element_list(const Hardware& hardware) {
  TextRows rows = {{"element", "host", "NUMA", "L3", "core", "PCI", "description"}};
  for (const Element& element : hardware.elements) {
    const auto host = hardware.hosts[static_cast<std::size_t>(element.node)];
    rows.push_back({element.name, host, numa_list(element.numas), index_or_dash(element.l3),
                    index_or_dash(element.core), element.bus_id.empty() ? "-" : element.bus_id, element.detail});
  }
  return in_columns(rows);
}

std::string legend_text() {
  TextRows rows;
  for (const LegendEntry& entry : link_legend())
    rows.push_back({"  " + std::string(entry.label), std::string(entry.meaning)});
  return "Legend\n" + in_columns(rows);
}

}  // namespace

std::string matrix_text(const Hardware& hardware) {
  std::string text = summary(hardware) + "\n\n";
  const bool by_node = hardware.hosts.size() > 1 && hardware.elements.size() > most_in_one;
  for (std::size_t node = 0; node < (by_node ? hardware.hosts.size() : 1); ++node) {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < hardware.elements.size(); ++i)
      if (!by_node || hardware.elements[i].node == static_cast<int>(node)) shown.push_back(i);
    if (by_node) text += fmt::format("Node {} ({})\n", node, hardware.hosts[node]);
    text += matrix_of(hardware, shown) + "\n";
  }
  if (by_node) text += "Elements of different nodes are NET apart.\n\n";
  return text + element_list(hardware) + "\n" + legend_text();
}

}  // namespace tutti::detail
