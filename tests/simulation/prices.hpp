// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tutti/topology.hpp>
#include <vector>

namespace tutti::simulation {

/// Where a core finds a line: in its own cache, in one of the same last-level cache, in another of its socket, in
/// another socket.
enum class Distance : std::uint8_t { own, cache, socket, node };
inline constexpr std::size_t distances = 4;
[[nodiscard]] const char* name_of(Distance distance);

/// A machine whose cores number through last-level caches and sockets, and what a cache line costs there, in
/// nanoseconds.
struct Prices {
  std::string name{};
  std::string title{};
  int sockets = 1;
  int caches = 1;  ///< of a socket
  int cores = 1;   ///< of a cache
  /// From a store to a line that another core polls until that core has it: a core-to-core table.
  std::array<double, distances> handover{};
  double read = 0.6;     ///< the part of a handover that fetches a line; the rest takes it from those who hold it
  double further = 0.1;  ///< the part after which a core begins with a further line of several
  double queue = 0.3;    ///< the part that a line is kept by one reader before the next has its turn
  double look = 1;       ///< at a line in the core's own cache
  double call = 60;      ///< instructions of a call beside its lines
  double port = 0;       ///< of a last-level cache: a line that comes from elsewhere
  double link = 0;       ///< between sockets: the same

  [[nodiscard]] int all_cores() const { return sockets * caches * cores; }
  [[nodiscard]] int cache_of(int core) const { return core / cores; }
  [[nodiscard]] int socket_of(int core) const { return core / (cores * caches); }
  [[nodiscard]] Distance between(int a, int b) const;
  [[nodiscard]] double fetch(Distance distance) const { return read * at(distance); }
  [[nodiscard]] double take(Distance distance) const { return (1 - read) * at(distance); }
  [[nodiscard]] double at(Distance distance) const { return handover[static_cast<std::size_t>(distance)]; }
  /// The places of ranks on the first cores.
  [[nodiscard]] std::vector<Place> places(int ranks) const;
};

/// The machine of that name in prices.json, or the only one in a file of the same form. Throws std::runtime_error.
[[nodiscard]] Prices prices_of(const std::string& name_or_file);

}  // namespace tutti::simulation
