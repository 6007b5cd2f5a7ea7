// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/network_view.hpp"
#include "topology/matrix.hpp"

namespace tutti::tools {

/// `tutti topo`: the machine as a matrix of ranks, cores, NUMA nodes, GPUs and NICs.
void add_topo(CLI::App& app);

/// Hosts, elements, matrix and groups of the network as JSON.
[[nodiscard]] std::string topo_json(const detail::Hardware& hardware, const NetworkView& network);
/// Converts the elements of one node to JSON and back, for ranks to send to rank 0.
[[nodiscard]] std::string hardware_to_json(const detail::Hardware& hardware);
[[nodiscard]] detail::Hardware hardware_from_json(const std::string& text);

}  // namespace tutti::tools
