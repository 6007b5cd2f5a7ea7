// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "topology/network_source.hpp"

namespace tutti::tools {

/// What the nodes of a job know of the groups of the network that they lie in.
struct NetworkView {
  std::vector<std::string> hosts{};
  std::vector<detail::NetworkPaths> paths{};  ///< of each node
  std::string source{};                       ///< that all nodes have, as Topology::network_source; empty: none
};

/// One node's paths, for ranks to send to rank 0.
[[nodiscard]] std::string paths_to_json(const detail::NetworkPaths& paths);
[[nodiscard]] detail::NetworkPaths paths_from_json(const std::string& text);

/// A line for each source that is left out: because a node cannot use it, or because not all nodes have it.
[[nodiscard]] std::vector<std::string> network_problems(const NetworkView& view);

/// The smallest groups with their nodes, and what is left out. Empty where nothing is known of one node.
[[nodiscard]] std::string network_text(const NetworkView& view);

/// The same as JSON: "source", "nodes" with the groups of each, "problems".
[[nodiscard]] std::string network_json(const NetworkView& view);

}  // namespace tutti::tools
