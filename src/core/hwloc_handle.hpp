// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hwloc.h>

#include <cstdint>
#include <memory>
#include <type_traits>

namespace tutti::detail {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
/// Owns a topology of hwloc.
using TopologyHandle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;

/// The topology of this machine without devices, which the first call loads, since a large machine takes long; nullptr
/// if hwloc cannot load it. Lives as long as the process; not to be changed.
[[nodiscard]] hwloc_topology_t machine_topology();

/// The bytes of all last-level caches of this machine, or 0 if hwloc does not know them.
[[nodiscard]] std::uint64_t last_level_cache_bytes();

}  // namespace tutti::detail
