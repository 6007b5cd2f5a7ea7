// SPDX-License-Identifier: BSD-3-Clause
#include "core/hwloc_handle.hpp"

namespace tutti::detail {
namespace {

hwloc_topology_t load_machine() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  TopologyHandle topology(raw);
#if HWLOC_API_VERSION >= 0x00020100
  // The operating system tells as much. This component moves the process from core to core, where another rank may spin
  // that waits for this one.
  hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
#endif
  return hwloc_topology_load(raw) == 0 ? topology.release() : nullptr;
}

}  // namespace

hwloc_topology_t machine_topology() {
  static const hwloc_topology_t kept = load_machine();
  return kept;
}

std::uint64_t last_level_cache_bytes() {
  const hwloc_topology_t topology = machine_topology();
  if (topology == nullptr) return 0;
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE}) {
    std::uint64_t bytes = 0;
    hwloc_obj_t cache = nullptr;
    while ((cache = hwloc_get_next_obj_by_type(topology, type, cache)) != nullptr) bytes += cache->attr->cache.size;
    if (bytes > 0) return bytes;
  }
  return 0;
}

}  // namespace tutti::detail
