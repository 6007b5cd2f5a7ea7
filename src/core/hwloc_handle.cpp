// SPDX-License-Identifier: BSD-3-Clause
#include "core/hwloc_handle.hpp"

namespace tutti::detail {
namespace {

hwloc_topology_t load_machine() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  TopologyHandle topology(raw);
  return hwloc_topology_load(raw) == 0 ? topology.release() : nullptr;
}

}  // namespace

hwloc_topology_t machine_topology() {
  static const hwloc_topology_t kept = load_machine();
  return kept;
}

}  // namespace tutti::detail
