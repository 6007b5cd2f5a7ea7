// SPDX-License-Identifier: BSD-3-Clause
// Places of ranks on machines of known shapes, for tests without such a machine.
#pragma once

#include <tutti/topology.hpp>
#include <vector>

namespace tutti::test {

/// One rank per core, in the order of cores: `domains` NUMA domains of `caches` last-level caches of `cores` cores.
inline std::vector<Place> bound_places(int domains, int caches, int cores) {
  std::vector<Place> places;
  for (int rank = 0; rank < domains * caches * cores; ++rank)
    places.push_back({0, rank, rank / (caches * cores), rank / cores, rank, 1});
  return places;
}

/// Neighbouring ranks on different domains, as `mpiexec -map-by numa` puts them.
inline std::vector<Place> dealt_places(int domains, int caches, int cores) {
  const std::vector<Place> bound = bound_places(domains, caches, cores);
  std::vector<Place> places;
  const int per_domain = caches * cores;
  for (int i = 0; i < per_domain; ++i)
    for (int domain = 0; domain < domains; ++domain) {
      places.push_back(bound[static_cast<std::size_t>(domain * per_domain + i)]);
      places.back().local_rank = static_cast<int>(places.size()) - 1;
    }
  return places;
}

}  // namespace tutti::test
