// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <tutti/buffer.hpp>  // before detail::Element, which hides the concept of that name
#include <tutti/topology.hpp>
#include <vector>

namespace tutti::detail {

enum class ElementKind : std::uint8_t { rank, core, numa, gpu, nic };

/// NVLinks from a GPU to another one of its node, direct or through switches.
struct NvLinks {
  std::string bus_id{};  ///< of the other GPU
  int count = 0;
};

/// One row of the machine's matrix: an element that computes, holds memory or moves data. Indices are hwloc's logical
/// ones on its node, or -1 if it does not lie in a single such object.
struct Element {
  ElementKind kind = ElementKind::core;
  std::string name{};                    ///< "rank 0", "core 3", "NUMA 1", "GPU0", "mlx5_0"
  std::string detail{};                  ///< model, memory, network interfaces
  int node = 0;                          ///< index into Hardware::hosts
  int core = -1;                         ///< of ranks and cores
  int cores = 0;                         ///< cores that an element of kind core stands for
  int l3 = -1;                           ///< of ranks and cores
  std::vector<int> numas{};              ///< NUMA nodes that it lies in or near; all nodes if unknown
  std::string bus_id{};                  ///< "0000:17:00.0" of PCI devices
  std::vector<std::uint64_t> bridges{};  ///< PCI bridges above a device, the host bridge first
  std::vector<NvLinks> nvlinks{};
};

/// The hardware of one or more nodes and the ranks on it: plain data, no handle of hwloc.
struct Hardware {
  std::vector<std::string> hosts{};
  std::vector<Element> elements{};
};

/// Cores, NUMA nodes, GPUs and NICs of this host, as hwloc and the NVIDIA management library, if there is one, describe
/// them. Throws tutti::Error if hwloc cannot load the topology. Local.
[[nodiscard]] Hardware this_machine();

/// The machine that an XML file of hwloc (lstopo machine.xml) describes. Throws tutti::Error naming the file.
[[nodiscard]] Hardware machine_from_xml(const std::string& path);

/// The machine of a synthetic description of hwloc ("numa:2 l3:1 core:8 pu:1").
[[nodiscard]] Hardware machine_from_synthetic(const std::string& description);

/// Joins the nodes of a job: node i of the result is hardware[i], preceded by the ranks of the topology, if any.
[[nodiscard]] Hardware join_nodes(const std::vector<Hardware>& nodes, const Topology& ranks);

/// The same with one element for the cores of each L3 cache, or of each NUMA node without L3: "cores 0-7".
[[nodiscard]] Hardware group_cores(const Hardware& hardware);

/// Only the elements of the given kinds.
[[nodiscard]] Hardware keep_kinds(const Hardware& hardware, const std::vector<ElementKind>& kinds);

}  // namespace tutti::detail
