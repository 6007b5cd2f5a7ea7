// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tutti/topology.hpp>

#include "call/context.hpp"

namespace tutti::detail {

/// What the first communicator of some processes found out, for later communicators of the same processes in the same
/// order: where they run, what calls cost, and what was measured.
struct Kin {
  Topology topology{};
  Costs costs{};
  std::string costs_report{};
  std::shared_ptr<const Measurements> measured{};
  std::string measured_report{};
};

inline constexpr std::size_t most_kin = 8;
/// Names of what a process knows; 0: nothing.
using KinNames = std::array<std::uint64_t, most_kin>;

/// Another number in each process.
[[nodiscard]] std::uint64_t process_number();
/// The name of what processes with these numbers, in this order, know of themselves. Never 0.
[[nodiscard]] std::uint64_t kin_name(std::span<const std::uint64_t> processes);

/// What this process knows of its last communicators.
struct KnownKin {
  KinNames names{};
  std::array<std::shared_ptr<const Kin>, most_kin> kin{};
  /// Null if there is none by that name.
  [[nodiscard]] std::shared_ptr<const Kin> find(std::uint64_t name) const;
};

/// As their rank 0 this process leaves out what is out of date: because files or variables that measurements come from
/// have changed, or costs are to be measured again. Any thread.
[[nodiscard]] KnownKin known_kin(bool is_first);
void keep_kin(std::uint64_t name, const Context& context);

}  // namespace tutti::detail
