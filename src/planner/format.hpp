// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/key.hpp"
#include "planner/table.hpp"

/// The tables as text: JSON with the members format ("tutti-tuning"), version, library (its version), checksum and
/// tables; a table has a machine (see Key), cells (see Cell) and, if they were measured, links: by level, the figures
/// of messages (see Link); and fabric: the network while all nodes use it (see Fabric).
namespace tutti::detail::tuning {

/// The measurements of one machine and number of ranks.
struct Section {
  Key key{};
  std::vector<Cell> cells{};
  std::optional<Links> links{};

  friend bool operator==(const Section&, const Section&) = default;
};

/// Throws Error (io) with the reason if the text is not a complete, undamaged document of this version of the library.
/// Allocates at most a multiple of the length of the text.
[[nodiscard]] std::vector<Section> parse(std::string_view text);

[[nodiscard]] std::string print(const std::vector<Section>& sections);

}  // namespace tutti::detail::tuning
