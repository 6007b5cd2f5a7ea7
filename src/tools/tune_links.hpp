// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <tutti/communicator.hpp>

#include "call/fabric.hpp"
#include "tools/link_measurement.hpp"
#include "tools/table_file.hpp"

namespace tutti::tools {

/// Measures the links between the ranks of a communicator, puts them into the file, and gives a report. Collective.
[[nodiscard]] std::string tune_links(const Communicator& comm, TableFile& file);

/// A row for each level, and one for the rates under load.
[[nodiscard]] std::string links_text(std::span<const LinkMeasurement> measured);

/// A row for each distance between nodes; empty if none was measured.
[[nodiscard]] std::string fabric_text(const detail::Fabric& fabric);

}  // namespace tutti::tools
