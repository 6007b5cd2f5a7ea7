// SPDX-License-Identifier: BSD-3-Clause
#include "tools/tune_links.hpp"

#include <fmt/format.h>

#include "call/context.hpp"
#include "topology/columns.hpp"

namespace tutti::tools {
namespace {

std::string gigabytes(double rate) { return fmt::format("{:.2f}", rate * 1e-9); }

}  // namespace

std::string links_text(std::span<const LinkMeasurement> measured) {
  detail::TextRows rows = {{"level", "latency us", "overhead us", "one message GB/s", "one rank GB/s", "a node GB/s"}};
  std::string loads;
  for (const LinkMeasurement& one : measured) {
    const auto name = detail::link_level_names[static_cast<std::size_t>(one.level)];
    rows.push_back({std::string(name), fmt::format("{:.2f}", one.link.latency * 1e6),
                    fmt::format("{:.2f}", one.link.overhead * 1e6), gigabytes(one.link.rate),
                    gigabytes(one.link.several_rate), gigabytes(one.link.shared_rate)});
    loads += fmt::format("{}, GB/s of each rank by pairs at once:", name);
    for (const LinkMeasurement::Load& load : one.loads)
      loads += fmt::format(" {}: {}", load.pairs, gigabytes(load.rate));
    loads += "\n";
  }
  return detail::in_columns(rows) + loads;
}

std::string tune_links(const Communicator& comm, TableFile& file) {
  const std::vector<LinkMeasurement> measured = measure_links(comm.state()->point_to_point, comm.topology().places);
  file.put(links_of(measured));
  return links_text(measured);
}

}  // namespace tutti::tools
