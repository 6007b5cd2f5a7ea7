// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tutti/topology.hpp>
#include <vector>

#include "call/context.hpp"
#include "call/trial.hpp"

namespace tutti::detail {

/// What the first communicator of some processes found out, for later communicators of the same processes in the same
/// order: where they run, what calls cost, and what was measured.
struct Kin {
  Topology topology{};
  Costs costs{};
  std::string costs_report{};
  std::shared_ptr<const Measurements> measured{};
  std::string measured_report{};
  std::shared_ptr<Commons> commons{};  ///< null: their states share nothing
  std::shared_ptr<Heritage> heritage{};
  std::vector<int> members{};  ///< on their rank 0: world_ranks()
};

inline constexpr std::size_t most_kin = 8;
/// Key of a cache entry: the hash of the processes, and the mark of the communicator that measured them, because
/// threads may make two communicators at the same time. Name 0: no entry.
struct KinName {
  std::uint64_t name = 0;
  std::uint64_t mark = 0;
  bool operator==(const KinName&) const = default;
};
using KinNames = std::array<KinName, most_kin>;

/// Another number in each process.
[[nodiscard]] std::uint64_t process_number();
/// The name of what processes with these numbers, in this order, know of themselves. Never 0.
[[nodiscard]] std::uint64_t kin_name(std::span<const std::uint64_t> processes);

/// What this process knows of its last communicators.
struct KnownKin {
  KinNames names{};
  std::array<std::shared_ptr<const Kin>, most_kin> kin{};
  std::array<bool, most_kin> is_stale{};
  std::array<Heritage::Left, most_kin> left{};
  /// Null if there is none by that name.
  [[nodiscard]] std::shared_ptr<const Kin> find(const KinName& name) const;
};

/// As their rank 0 this process marks measurements that are out of date: because files or variables that measurements
/// come from have changed, or costs are to be measured again. Any thread.
[[nodiscard]] KnownKin known_kin(bool is_first);
/// members: of rank 0, as in Kin.
void keep_kin(const KinName& name, const Context& context, std::shared_ptr<Heritage> heritage,
              std::vector<int> members);

}  // namespace tutti::detail
