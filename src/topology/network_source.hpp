// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// What names the groups of the network that a node lies in: one parser a source, and one type of result.
namespace tutti::detail {

/// The groups of a node by name, the largest first: {"island3", "leaf12"}. The node itself is none of them.
struct NetworkPath {
  std::vector<std::string> groups{};  ///< empty: the source has nothing that can be used
  std::string problem{};              ///< why it cannot be used; empty: it can, or nothing is there
  friend bool operator==(const NetworkPath&, const NetworkPath&) = default;
};

/// The sources, in the order in which they count.
enum class NetworkSource : std::uint8_t { given, slurm_address, slurm_file, xname };
inline constexpr std::size_t network_sources = 4;
inline constexpr std::array<std::string_view, network_sources> network_source_names = {
    "TUTTI_NETWORK", "SLURM_TOPOLOGY_ADDR", "topology.conf", "xname"};
using NetworkPaths = std::array<NetworkPath, network_sources>;

/// The address that Slurm gives a node: "s0.s4.tux1" with the pattern "switch.switch.node", "b8.tux1" with
/// "block.node", or "grid:3:0:2.tux1" with "torus:x:y:z.node", whose planes and lines are groups (SLURM_TOPOLOGY_ADDR
/// and SLURM_TOPOLOGY_ADDR_PATTERN of srun).
[[nodiscard]] NetworkPath path_of_address(std::string_view address, std::string_view pattern);

/// A node in the text of Slurm's topology.conf: lines of SwitchName with Switches or Nodes, or of BlockName with Nodes.
[[nodiscard]] NetworkPath path_in_slurm_file(std::string_view text, std::string_view node);

/// A node's place in a machine of Cray or HPE: cabinet and chassis of "x1000c0s3b1n0", and the blade too of
/// "c3-0c2s15n3".
[[nodiscard]] NetworkPath path_of_xname(std::string_view name);

/// Whether a list of Slurm, as "tux[0-3,12],rack[1-2]node[01-16]", has that name.
[[nodiscard]] bool host_list_has(std::string_view list, std::string_view name);

/// All that this node knows, by TUTTI_NETWORK, Slurm's variables and the files under `root`. Nothing if TUTTI_NETWORK
/// is off. Local; throws nothing but bad_alloc.
[[nodiscard]] NetworkPaths network_paths(const std::filesystem::path& root = "/");

}  // namespace tutti::detail
