// SPDX-License-Identifier: BSD-3-Clause
#include "topology/place.hpp"

#include <hwloc.h>
#include <unistd.h>

#include "core/hwloc_handle.hpp"
#include "core/process_watch.hpp"

namespace tutti::detail {
namespace {

/// The logical index of the one object of a type that holds the whole set, or -1.
std::int32_t covering_index(hwloc_topology_t topology, hwloc_const_cpuset_t set, hwloc_obj_type_t type) {
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr)
    if (object->cpuset != nullptr && hwloc_bitmap_isincluded(set, object->cpuset) != 0)
      return static_cast<std::int32_t>(object->logical_index);
  return -1;
}

}  // namespace

LocalPlace local_place() {
  LocalPlace place;
  gethostname(place.host.data(), place.host.size() - 1);
  place.kernel = kernel_number();
  const hwloc_topology_t topology = machine_topology();
  if (topology == nullptr) return place;
  hwloc_cpuset_t set = hwloc_bitmap_alloc();
  if (hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) != 0)
    hwloc_bitmap_copy(set, hwloc_topology_get_allowed_cpuset(topology));
  hwloc_bitmap_and(set, set, hwloc_topology_get_allowed_cpuset(topology));
  place.numa = covering_index(topology, set, HWLOC_OBJ_NUMANODE);
  place.l3 = covering_index(topology, set, HWLOC_OBJ_L3CACHE);
  place.core = covering_index(topology, set, HWLOC_OBJ_CORE);
  place.socket = covering_index(topology, set, HWLOC_OBJ_PACKAGE);
  for (int unit = hwloc_bitmap_first(set); unit >= 0 && unit < LocalPlace::most_units;
       unit = hwloc_bitmap_next(set, unit))
    place.units[static_cast<std::size_t>(unit) / 64] |= std::uint64_t{1} << (static_cast<unsigned>(unit) % 64U);
  hwloc_bitmap_free(set);
  return place;
}

}  // namespace tutti::detail
