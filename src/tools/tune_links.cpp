// SPDX-License-Identifier: BSD-3-Clause
#include "tools/tune_links.hpp"

#include <fmt/format.h>

#include "call/context.hpp"
#include "tools/link_measurement.hpp"
#include "topology/columns.hpp"

namespace tutti::tools {
namespace {

std::string gigabytes(double rate) { return fmt::format("{:.2f}", rate * 1e-9); }

}  // namespace

std::string links_text(std::span<const LinkMeasurement> measured) {
  detail::TextRows rows = {{"level", "latency us", "overhead us", "long latency us", "eager KiB", "one message GB/s",
                            "passed on GB/s", "one rank GB/s", "one way GB/s", "a node GB/s"}};
  std::string loads;
  for (const LinkMeasurement& one : measured) {
    const auto name = detail::link_level_names[static_cast<std::size_t>(one.level)];
    rows.push_back({std::string(name), fmt::format("{:.2f}", one.link.latency * 1e6),
                    fmt::format("{:.2f}", one.link.overhead * 1e6), fmt::format("{:.2f}", one.link.long_latency * 1e6),
                    fmt::format("{:g}", one.link.eager / 1024), gigabytes(one.link.rate),
                    gigabytes(passing_rate_of(one.link)), gigabytes(one.link.several_rate),
                    gigabytes(several_rate_of(one.link, false)), gigabytes(one.link.shared_rate)});
    loads += fmt::format("{}, GB/s of each rank by pairs at once:", name);
    for (const LinkMeasurement::Load& load : one.loads)
      loads += fmt::format(" {}: {}", load.pairs, gigabytes(load.rate));
    loads += "\n";
  }
  return detail::in_columns(rows) + loads;
}

std::string fabric_text(const detail::Fabric& fabric) {
  const std::size_t distances = detail::distances_of(fabric);
  if (distances == 0) return "";
  detail::TextRows rows = {{"nodes apart", "latency us", "all nodes, each GB/s"}};
  for (std::size_t digit = 0; digit < distances; ++digit)
    rows.push_back({std::to_string(1UL << digit), fmt::format("{:.2f}", fabric.at[digit].latency * 1e6),
                    gigabytes(fabric.at[digit].rate)});
  rows.push_back({"all", "", gigabytes(fabric.everywhere)});
  return detail::in_columns(rows);
}

std::string tune_links(const Communicator& comm, TableFile& file) {
  const std::vector<LinkMeasurement> measured = measure_links(comm.state()->point_to_point, comm.topology().places);
  detail::Links links = links_of(measured);
  links.fabric = measure_fabric(comm.state()->point_to_point, comm.topology().places);
  file.put(links);
  return links_text(measured) + fabric_text(links.fabric);
}

}  // namespace tutti::tools
