// SPDX-License-Identifier: BSD-3-Clause
#include "core/apart.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace tutti::detail {
namespace {

/// The system's own set has room for 1024 units, and calls fail where there are more.
class UnitSet {
 public:
  [[nodiscard]] bool read() noexcept { return sched_getaffinity(0, sizeof words_, set()) == 0; }
  void apply() noexcept { static_cast<void>(sched_setaffinity(0, sizeof words_, set())); }
  [[nodiscard]] bool has(int unit) const noexcept { return (word(unit) >> bit(unit) & 1U) != 0; }
  void add(int unit) noexcept { words_[static_cast<std::size_t>(unit) / 64] |= std::uint64_t{1} << bit(unit); }

  static constexpr int most = 8192;

 private:
  [[nodiscard]] std::uint64_t word(int unit) const noexcept { return words_[static_cast<std::size_t>(unit) / 64]; }
  static unsigned bit(int unit) noexcept { return static_cast<unsigned>(unit) % 64U; }
  cpu_set_t* set() noexcept { return reinterpret_cast<cpu_set_t*>(words_.data()); }

  std::array<std::uint64_t, most / 64> words_{};
};

}  // namespace

std::vector<int> allowed_units() {
  UnitSet set;
  std::vector<int> units;
  if (!set.read()) return units;
  for (int unit = 0; unit < UnitSet::most; ++unit)
    if (set.has(unit)) units.push_back(unit);
  return units;
}

bool is_on_unit_of_a_lower(std::span<const int> running, int rank) {
  const auto own = static_cast<std::size_t>(rank);
  return std::ranges::count(running.first(own), running[own]) > 0;
}

std::optional<int> free_unit(std::span<const int> running, int rank, std::span<const int> allowed) {
  if (!is_on_unit_of_a_lower(running, rank)) return std::nullopt;
  std::vector<int> free;
  for (const int unit : allowed)
    if (std::ranges::find(running, unit) == running.end()) free.push_back(unit);
  std::size_t movers = 0;
  for (int lower = 0; lower < rank; ++lower) movers += is_on_unit_of_a_lower(running, lower) ? 1 : 0;
  if (movers >= free.size()) return std::nullopt;
  return free[movers];
}

void move_to_unit(int unit) noexcept {
  UnitSet before;
  if (unit < 0 || unit >= UnitSet::most || !before.read()) return;
  UnitSet only;
  only.add(unit);
  only.apply();
  before.apply();
}

}  // namespace tutti::detail
