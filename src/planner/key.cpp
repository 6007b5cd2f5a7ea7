// SPDX-License-Identifier: BSD-3-Clause
#include "planner/key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <cctype>
#include <string_view>

#include "core/hwloc_handle.hpp"

namespace tutti::detail::tuning {
namespace {

std::string read_cpu_model() {
  const hwloc_topology_t topology = machine_topology();
  if (topology == nullptr) return "unknown";
  hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  if (package == nullptr) package = hwloc_get_root_obj(topology);
  const char* model = hwloc_obj_get_info_by_name(package, "CPUModel");
  return model == nullptr ? "unknown" : model;
}

/// The first line of the MPI library's version text, up to a comma, with blanks as single spaces: "MPICH Version:
/// 4.0.2".
std::string read_mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string name;
  for (const char c : std::string_view(text, static_cast<std::size_t>(length))) {
    if (c == '\n' || c == ',') break;
    const bool is_blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_blank) name += c;
    if (is_blank && !name.empty() && name.back() != ' ') name += ' ';
  }
  while (!name.empty() && name.back() == ' ') name.pop_back();
  return name;
}

}  // namespace

Key key_of(const Topology& topology) {
  static const std::string cpu = read_cpu_model();
  static const std::string mpi = read_mpi_library();
  return {static_cast<int>(topology.places.size()), topology.ranks_per_node, topology.cores_per_node, cpu, mpi};
}

std::string difference(const Key& key, const Key& here) {
  if (key.cpu != here.cpu) return fmt::format("processor '{}', here '{}'", key.cpu, here.cpu);
  if (key.mpi != here.mpi) return fmt::format("host MPI '{}', here '{}'", key.mpi, here.mpi);
  if (key.ranks != here.ranks) return fmt::format("{} ranks, here {}", key.ranks, here.ranks);
  if (key.ranks_per_node != here.ranks_per_node)
    return fmt::format("{} ranks on the nodes, here {}", fmt::join(key.ranks_per_node, "+"),
                       fmt::join(here.ranks_per_node, "+"));
  if (key.cores_per_node != here.cores_per_node)
    return fmt::format("{} cores on the nodes, here {}", fmt::join(key.cores_per_node, "+"),
                       fmt::join(here.cores_per_node, "+"));
  return {};
}

}  // namespace tutti::detail::tuning
